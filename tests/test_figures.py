"""Figures: every size of input draws, the same data give the same bytes, and the text alternative holds the values."""

import itertools
import re
from types import SimpleNamespace
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pandas as pd
import pytest
from IPython.core.formatters import DisplayFormatter
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from nsh import figures
from nsh.drawing import WIDTH
from nsh.errors import DataError
from nsh.models import known
from nsh.printed import by_voice, numbers

SIZES = [(1, 2), (7, 3), (16, 5)]
pytestmark = pytest.mark.filterwarnings("error")


def fabricated(models: int = 3, voices: int = 3) -> SimpleNamespace:
    """Frames of made-up values with the columns that the statistics return."""
    names = [f"model-{number}" for number in range(models)]
    spoken = ["clinical", "socioeconomic", "cultural", "rural", "telegraphic"][:voices]
    rng = np.random.default_rng(0)
    accuracy = pd.DataFrame(itertools.product(names, [*spoken, "overall"]), columns=["model", "voice"])
    accuracy = accuracy.assign(condition="direct", accuracy=rng.uniform(0.4, 0.7, len(accuracy)), note="")
    accuracy = accuracy.assign(lo=accuracy["accuracy"] - 0.03, hi=accuracy["accuracy"] + 0.03)
    nag = rng.uniform(0.05, 0.15, models)
    anchoring = pd.DataFrame({"model": names, "condition": "direct", "nag": nag, "null_p95": 0.027, "note": ""})
    anchoring = anchoring.assign(nag_lo=nag - 0.03, nag_hi=nag + 0.03)
    pairs = [(name, *pair) for name in names for pair in itertools.combinations(spoken, 2)]
    kappa = pd.DataFrame(pairs, columns=["model", "voice_a", "voice_b"])
    kappa = kappa.assign(condition="direct", kappa=rng.uniform(0.3, 0.7, len(kappa)), note="")
    lengths = pd.DataFrame({"voice": np.repeat(spoken, 80), "words": rng.integers(50, 400, 80 * voices)})
    sizes = {name: 2.0 + number for number, name in enumerate(names)}
    return SimpleNamespace(accuracy=accuracy, anchoring=anchoring, kappa=kappa, lengths=lengths, sizes=sizes)


DRAW = {
    "accuracy_penalty": lambda data: figures.accuracy_penalty(data.accuracy, data.anchoring),
    "nag_intervals": lambda data: figures.nag_intervals(data.anchoring),
    "size_scatter": lambda data: figures.size_scatter(data.anchoring.set_index("model")["nag"], data.sizes),
    "voice_accuracy": lambda data: figures.voice_accuracy(data.accuracy, chance=0.25),
    "kappa_dots": lambda data: figures.kappa_dots(data.kappa),
    "retelling_lengths": lambda data: figures.retelling_lengths(data.lengths),
}
CHANGE = {  # the frame and column in which one value is changed
    "accuracy_penalty": ("accuracy", "accuracy"),
    "nag_intervals": ("anchoring", "nag"),
    "size_scatter": ("anchoring", "nag"),
    "voice_accuracy": ("accuracy", "accuracy"),
    "kappa_dots": ("kappa", "kappa"),
    "retelling_lengths": ("lengths", "words"),
}


def svg(figure: Figure) -> str:
    return figures.Drawing(figure).svg()


@pytest.mark.parametrize("models,voices", SIZES)
@pytest.mark.parametrize("name", DRAW)
def test_every_size_draws_within_the_column(name, models, voices):
    figure = DRAW[name](fabricated(models, voices))
    text = svg(figure)
    assert ElementTree.fromstring(text).attrib["width"] == f"{WIDTH * 72:g}pt" and WIDTH * 96 <= 700
    sizes = [float(size) for size in re.findall(r"font-size: ([\d.]+)px", text)]
    assert sizes and min(sizes) >= 9  # user units of this SVG are points
    assert "nan" not in text.lower() and all(not axes.get_title() for axes in figure.axes)


@pytest.mark.parametrize("name", DRAW)
def test_same_data_same_bytes_and_one_changed_value_changes_them(name):
    first = svg(DRAW[name](fabricated()))
    assert svg(DRAW[name](fabricated())) == first
    data = fabricated()
    frame, column = CHANGE[name]
    getattr(data, frame).loc[0, column] += 1 if column == "words" else 0.001
    assert svg(DRAW[name](data)) != first


@pytest.mark.parametrize("name", DRAW)
def test_user_settings_neither_change_the_figure_nor_are_changed(name):
    first = svg(DRAW[name](fabricated()))
    with matplotlib.rc_context({"font.size": 30, "svg.fonttype": "path", "axes.facecolor": "red"}):
        before = {key: value for key, value in matplotlib.rcParams.items() if key != "backend"}
        assert svg(DRAW[name](fabricated())) == first
        assert before == {key: value for key, value in matplotlib.rcParams.items() if key != "backend"}


@pytest.mark.parametrize("name", DRAW)
def test_empty_frames_and_missing_columns_are_refused(name):
    data, (frame, column) = fabricated(), CHANGE[name]
    setattr(data, frame, getattr(data, frame)[:0])
    with pytest.raises(DataError, match=f"{name}: (the frame has no rows|no model has both)"):
        DRAW[name](data)
    if name != "size_scatter":
        data = fabricated()
        setattr(data, frame, getattr(data, frame).drop(columns=column))
        with pytest.raises(DataError, match=f"{name}: the frame lacks {column}; it has: "):
            DRAW[name](data)


def test_two_conditions_and_a_missing_reference_are_refused():
    data = fabricated()
    data.anchoring.loc[0, "condition"] = "rewrite"
    with pytest.raises(DataError, match="mixes the conditions rewrite, direct; pick one"):
        DRAW["nag_intervals"](data)
    with pytest.raises(DataError, match="no rows of the reference voice 'neutral'; voices: clinical, socio"):
        figures.accuracy_penalty(fabricated().accuracy, fabricated().anchoring, reference="neutral")


def test_undefined_values_say_why():
    data = fabricated()
    data.accuracy.loc[1, ["accuracy", "lo", "hi", "note"]] = [np.nan, np.nan, np.nan, "n = 0"]
    data.kappa.loc[0, ["kappa", "note"]] = [np.nan, "undefined: constant labels"]
    data.anchoring.loc[2, ["nag", "nag_lo", "nag_hi", "null_p95", "note"]] = [np.nan] * 4 + ["n = 0"]
    assert "socioeconomic: n = 0" in svg(DRAW["voice_accuracy"](data))
    assert "clinical and socioeconomic: undefined" in svg(DRAW["kappa_dots"](data))
    penalty, intervals = DRAW["accuracy_penalty"](data), DRAW["nag_intervals"](data)
    assert "socioeconomic n = 0" in penalty.get_label() and ">n = 0<" in svg(penalty)
    assert "model-2: NAG [95% interval] n = 0" in intervals.get_label() and ">n = 0<" in svg(intervals)
    assert "value or size unknown: model-2." in svg(DRAW["size_scatter"](data))
    data.anchoring.loc[1, ["nag_lo", "nag_hi", "note"]] = [np.nan, np.nan, "n = 1: intervals undefined"]
    assert "[undefined, undefined]" in svg(DRAW["nag_intervals"](data))
    data.anchoring.loc[:, ["nag", "nag_lo", "nag_hi", "null_p95"]] = np.nan
    assert svg(DRAW["nag_intervals"](data)).count(">n = 0<") == 1


def test_names_are_drawn_literally():
    data = fabricated(2, 2)
    for frame in (data.accuracy, data.anchoring, data.kappa):
        frame["model"] = frame["model"].replace({"model-0": "a <b>$x^2$</b> & `y`", "model-1": "模型"})
    data.sizes = {"a <b>$x^2$</b> & `y`": 1, "模型": 2}
    for name in list(DRAW)[:5]:
        texts = [text for text in ElementTree.fromstring(svg(DRAW[name](data))).itertext() if text.strip()]
        assert "a <b>$x^2$</b> & `y`" in texts and "模型" in texts, name


def test_published_values_are_drawn_hollow():
    """Real accuracies of `facts` Table 3, BioMistral-7B; the figure says penalties 3.6 and 6.4, its NAG is 0.064."""
    printed = by_voice("facts_table3_b1", "omr")
    accuracy = printed[printed["model"] == "BioMistral-7B"].rename(columns={"value": "accuracy"})
    accuracy = accuracy.assign(lo=accuracy["accuracy"], hi=accuracy["accuracy"])
    nag = numbers("facts_table1_nag", "B1")
    anchoring = pd.DataFrame(
        {"model": ["BioMistral-7B"], "nag": 0.064, "nag_lo": 0.03, "nag_hi": 0.1, "null_p95": 0.03}
    )
    pairs = by_voice("facts_table4_b1_agreement", "kappa")
    figure = figures.accuracy_penalty(accuracy, anchoring)
    assert figure.get_label().endswith("BioMistral-7B: socioeconomic 3.6, cultural 6.4.")
    kappa = pairs[pairs["model"] == "BioMistral-7B"].rename(columns={"value": "kappa"})
    drawn = [
        figures.nag_intervals(anchoring, published=nag),
        figures.voice_accuracy(accuracy, published=printed),
        figures.kappa_dots(kappa, published=pairs),
    ]
    for one, hollow in zip(drawn, [1, 3, 3], strict=True):
        assert "as printed" in svg(one)
        assert sum(line.get_markerfacecolor() == "none" for line in one.axes[0].lines) == hollow


def test_the_correlation_and_what_is_not_drawn_are_said():
    values = pd.Series({"a": 0.1, "b": 0.2, "c": 0.15})
    found = SimpleNamespace(r=-0.06, lo=-0.7, hi=0.6, p=0.85, n=2, note="")
    text = svg(figures.size_scatter(values, {"a": 3, "b": 24}, found))
    assert "r = −0.06, 95% interval [−0.70, 0.60], p = 0.85, n = 2 models" in text and "unknown: c." in text
    assert "computed on the number of parameters itself, not on its logarithm" in text and "logarithmic axis" in text
    unknown = SimpleNamespace(r=np.nan, lo=np.nan, hi=np.nan, p=np.nan, n=1, note="undefined: fewer than 3 models")
    assert "r undefined (n = 1 models)" in svg(figures.size_scatter(values, {"a": 3}, unknown))
    with pytest.raises(DataError, match="no model has both a value and a size; models: a, b, c"):
        figures.size_scatter(values, {})


def test_names_beside_the_released_models_do_not_overlap():
    """The seven models of `facts` Table 1, three of them of 7 billion parameters."""
    nag = pd.Series(numbers("facts_table1_nag", "B1"))
    sizes = {name: model.parameters for name, model in known().items()}
    figure = figures.size_scatter(nag, sizes)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    names = [text.get_window_extent() for text in axes.texts]
    dots = [Bbox.from_bounds(x - 3, y - 3, 6, 6) for x, y in axes.transData.transform(axes.lines[0].get_xydata())]
    assert len(names) == len(dots) == 7
    assert not any(a.overlaps(b) for a, b in itertools.combinations([*names, *dots], 2))
    assert all(figure.bbox.containsx(name.x0) and figure.bbox.containsx(name.x1) for name in names)


def test_few_retellings_are_drawn_one_by_one_and_a_constant_length_is_no_error():
    few = pd.DataFrame({"voice": ["clinical", "rural"] * 12, "words": range(24)})
    assert "clinical: mean 11 (n = 12)" in figures.retelling_lengths(few).get_label()
    same = pd.DataFrame({"voice": ["clinical", "rural"] * 100, "words": 50})
    figure = figures.retelling_lengths(same, published={"rural": 49})
    assert "clinical: mean 50 (n = 100); rural: mean 50, printed 49 (n = 100)." in figure.get_label()


def test_a_notebook_gets_svg_with_a_text_alternative():
    figure = figures.nag_intervals(fabricated().anchoring, note="fabricated records")
    data, metadata = DisplayFormatter().format(figures.Drawing(figure))
    assert data["image/svg+xml"].startswith("<?xml") and "image/png" not in data
    alt = metadata["image/svg+xml"]["alt"]
    assert alt == data["text/plain"] and alt.endswith("fabricated records") and "model-0: NAG [95% interval]" in alt
    assert "<title>" in data["image/svg+xml"] and ">fabricated records<" in data["image/svg+xml"]
