"""Records arranged for paired statistics: one array per model and condition, cases by voices, joined by case id."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from nsh.errors import DataError, ParameterError
from nsh.voices import known_voices

RUN, KEY = ["model", "condition"], ("model", "condition", "case", "voice")
NO_RECORD = -1


@dataclass(frozen=True, slots=True, eq=False)
class VoiceMatrix:
    """Answers of one model in one condition.

    Attributes
    ----------
    model, condition : str
    voices : tuple of str, length k
        The columns: all voices of the records, of whatever model; the reference comes first.
    cases : array of str, shape (n,)
        The rows, sorted by id.
    codes : array of int, shape (n, k)
        -1 where the case has no record in that voice. For ``value="correct"`` 1 is right and 0 wrong;
        for ``value="letter"`` equal codes are equal letters and 0 stands for "no letter".
    """

    model: str
    condition: str
    voices: tuple[str, ...]
    cases: np.ndarray
    codes: np.ndarray

    def complete(self) -> np.ndarray:
        """Codes of the cases that have a record in every voice, shape (m, k)."""
        return self.codes[(self.codes != NO_RECORD).all(axis=1)]

    def pair(self, voice_a: str, voice_b: str) -> np.ndarray:
        """Codes of the cases that have a record in both voices, shape (m, 2)."""
        both = self.codes[:, [self.voices.index(voice_a), self.voices.index(voice_b)]]
        return both[(both != NO_RECORD).all(axis=1)]

    def pairs(self) -> list[tuple[str, str]]:
        """Every pair of voices, those with the reference voice first."""
        return list(combinations(self.voices, 2))

    def left_out(self) -> list[str]:
        """The note on the cases that lack a record in at least one voice, if there are any."""
        n = int((self.codes == NO_RECORD).any(axis=1).sum())
        return [f"{n} cases without every voice left out"] if n else []


def voice_matrices(
    records: pd.DataFrame, value: str = "correct", reference: str | None = "clinical", needs: Sequence[str] = ()
) -> list[VoiceMatrix]:
    """Arrange records as one array per model and condition, in the order in which these first appear.

    Parameters
    ----------
    records : DataFrame
        One row per model, condition, case and voice.
    value : {"correct", "letter"}
        What the arrays hold.
    reference : str or None
        The voice of the first column; None where no voice is the unmarked one.
    needs : sequence of str
        Columns that the records must have besides.

    Returns
    -------
    list of VoiceMatrix

    Raises
    ------
    DataError, ParameterError
        As `check_records`.

    Examples
    --------
    >>> from nsh.patterns import from_patterns
    >>> first = voice_matrices(from_patterns(["B1"]))[0]
    >>> first.model, first.voices, first.codes.shape
    ('Llama-3.1-8B-Instruct', ('clinical', 'socioeconomic', 'cultural'), (1000, 3))
    """
    keys, names = check_records(records, (value, *needs), reference)
    voices = order_voices(names["voice"], reference)
    # Missing letters get factorize's -1, so adding 1 makes 0 the code of "no letter".
    codes = records["correct"].astype(int) if value == "correct" else pd.factorize(records[value])[0] + 1
    column = pd.Index(voices).get_indexer(names["voice"])[keys["voice"]]
    groups = keys.assign(code=np.asarray(codes), column=column).groupby(["model", "condition"], sort=False)
    return [
        VoiceMatrix(names["model"][model], names["condition"][condition], voices, *_arrange(rows, names, len(voices)))
        for (model, condition), rows in groups
    ]


def _arrange(rows: pd.DataFrame, names: Mapping[str, pd.Index], k: int) -> tuple[np.ndarray, np.ndarray]:
    """Cases of one group and its codes by case and voice."""
    cases, row = np.unique(rows["case"], return_inverse=True)
    codes = np.full((len(cases), k), NO_RECORD)
    codes[row, rows["column"]] = rows["code"]
    return np.asarray(names["case"])[cases], codes


def order_voices(names: Iterable[str], reference: str | None = None) -> tuple[str, ...]:
    """Order voices: the reference, then the papers' voices as the papers list them, then all others by name.

    Examples
    --------
    >>> order_voices(["rural", "cultural", "socioeconomic", "clinical"])
    ('clinical', 'socioeconomic', 'cultural', 'rural')
    """
    place = {voice.name: position for position, voice in enumerate(known_voices())}
    return tuple(sorted(set(names), key=lambda name: (name != reference, place.get(name, len(place)), name)))


def check_columns(frame: pd.DataFrame, names: Iterable[str], what: str, once: Sequence[str] = ()) -> None:
    """Refuse a frame that lacks a column, or holds a key twice.

    Parameters
    ----------
    frame : DataFrame
    names : iterable of str
        Columns that it must have, besides those of ``once``.
    what : str
        What its rows are, in the plural, as the message calls them.
    once : sequence of str
        Columns whose values, taken together, no two rows may share.

    Raises
    ------
    DataError
        A column is missing, or two rows have the same key; the first is named.

    Examples
    --------
    >>> check_columns(pd.DataFrame({"case": ["1", "1"]}), [], "ratings", once=["case"])
    Traceback (most recent call last):
    nsh.errors.DataError: 1 ratings occur twice, the first is case '1'; one per case is expected
    """
    if absent := [name for name in (*once, *names) if name not in frame]:
        raise DataError(f"{what} lack the column {absent[0]!r}; they have: {', '.join(map(str, frame.columns))}")
    if once and (twice := frame.duplicated(list(once))).any():
        first = f"{int(twice.sum())} {what} occur twice, the first is {_name(frame, once, twice)}"
        raise DataError(f"{first}; one per {', '.join(once)} is expected")


def one_condition(records: pd.DataFrame, reference: str, needs: Sequence[str] = ()) -> tuple[str, ...]:
    """Voices of records of one condition, the reference first; refuses several, and what `check_records` refuses."""
    _, names = check_records(records, ("correct", *needs), reference)
    if len(held := names["condition"]) > 1:
        raise ParameterError(f"records of {len(held)} conditions ({', '.join(held)}): give those of one")
    return order_voices([reference, *names["voice"]], reference)


def check_records(
    records: pd.DataFrame, needs: Sequence[str] = ("correct",), reference: str | None = None
) -> tuple[pd.DataFrame, dict[str, pd.Index]]:
    """Refuse records that a paired statistic would silently misread.

    Returns
    -------
    (DataFrame, dict)
        The keys as numbers, and by column the sorted names that these stand for.

    Raises
    ------
    DataError
        A column is missing, a key is empty or partly text, a case occurs twice in one voice, a letter is empty text,
        or ``correct`` is not boolean or contradicts the letters.
    ParameterError
        A reference is given, and no record is in that voice.
    """
    check_columns(records, needs, "records", once=KEY)
    found = {name: pd.factorize(records[name], sort=True) for name in KEY}
    keys = pd.DataFrame({name: numbers for name, (numbers, _) in found.items()})
    names = {name: pd.Index(values) for name, (_, values) in found.items()}
    if (empty := (keys < 0).any(axis=1)).any():
        raise DataError(f"record {_name(records, KEY, empty)} has an empty key; all of {KEY} must be set")
    if mixed := [name for name in KEY if names[name].inferred_type.startswith("mixed")]:
        raise DataError(f"{mixed[0]} holds both text and other values, which cannot be joined; all text is expected")
    if "correct" in needs and not (known := records["correct"].isin([True, False])).all():
        raise DataError(f"record {_name(records, (*KEY, 'correct'), ~known)}; as correct True or False is expected")
    if "letter" in records and (blank := records["letter"].isin([""])).any():
        raise DataError(f"record {_name(records, KEY, blank)} has letter ''; an answer without a letter has None")
    if "correct" in needs and {"letter", "gold"} <= set(records):
        letter, gold = np.split(pd.factorize(pd.concat([records["letter"], records["gold"]]))[0], 2)
        wrong = pd.Series((letter >= 0) & (gold >= 0) & ((letter == gold) != records["correct"].to_numpy(bool)))
        if wrong.any():
            raise DataError(f"record {_name(records, KEY, wrong)} has a correct that its letter contradicts")
    if len(records) and reference is not None and reference not in names["voice"]:
        voices = ", ".join(order_voices(names["voice"]))
        raise ParameterError(f"reference voice {reference!r} is in no record; the records hold {voices}")
    return keys, names


def _name(frame: pd.DataFrame, keys: Sequence[str], chosen: pd.Series) -> str:
    """The keys of the first chosen row, spelt out."""
    first = frame.loc[chosen.to_numpy(), list(keys)].head(1).to_dict("records")[0]
    return ", ".join(f"{name} {value!r}" for name, value in first.items())


def tidy(rows: Sequence[Mapping], types: Mapping[str, str | None]) -> pd.DataFrame:
    """Frame with the columns of ``types`` in order, each of its type (None: text, as pandas infers it), rows or not."""
    return pd.DataFrame(rows, columns=list(types)).astype({name: kind for name, kind in types.items() if kind})
