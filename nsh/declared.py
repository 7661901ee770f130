"""What is declared once, as data: the parameters, each with type, default and help, and the pages that take them."""

import difflib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from nsh.errors import ParameterError

REAL = ("patterns", "released", "run", "none")


class Yaml12(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # the C one is 12 times as fast
    """Reads plain scalars by YAML 1.2: `no` and dates stay text, `1e-3` is a number, `010` is not an octal 8; a key
    that stands twice is refused."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        if twice := [key for key in keys if keys.count(key) > 1]:
            raise yaml.constructor.ConstructorError(None, None, f"{twice[0]!r} stands twice", node.start_mark)
        return super().construct_mapping(node, deep)


Yaml12.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?(0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
):
    Yaml12.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), list(_first))


@dataclass(frozen=True, slots=True)
class Parameter:
    """One declared parameter; `kind` names a check beyond its type (cases, models, condition, released answers),
    or, as `run`, that no page takes it."""

    name: str
    type: str
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    minimum: int | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """One notebook of the book: which section of which paper it mirrors, and the parameters that it takes.

    `real` says what its numbers on real models are computed from: "patterns", "released", "run", or "none" where it has
    none. `defaults` are those of the page where they are not the declared ones.
    """

    slug: str
    title: str
    paper: str
    section: str
    real: str
    parameters: tuple[str, ...]
    defaults: Mapping[str, Any] = field(default_factory=dict)

    def default(self, name: str) -> Any:
        """The page's default of a parameter."""
        return self.defaults.get(name, parameters()[name].default)


@cache
def read_data(name: str) -> dict[str, Any]:
    """Read one of the package's declarations.

    Examples
    --------
    >>> [voice["name"] for voice in read_data("voices.yaml")["voices"]]
    ['clinical', 'socioeconomic', 'cultural']
    """
    return yaml.load(files("nsh").joinpath(f"data/{name}").read_text(encoding="utf-8"), Yaml12)


@cache
def parameters() -> dict[str, Parameter]:
    """All declared parameters by name.

    Examples
    --------
    >>> parameters()["n_cases"].type
    'int or null'
    """
    declared = read_data("parameters.yaml").items()
    return {name: Parameter(name, **{**row, "choices": tuple(row.get("choices", ()))}) for name, row in declared}


@cache
def pages() -> dict[str, Page]:
    """All pages by slug, in the order of the book.

    Examples
    --------
    >>> list(pages())[0]
    'home'
    """
    declared = read_data("pages.yaml").items()
    if odd := [slug for slug, row in declared if row["real"] not in REAL]:
        raise ParameterError(f"page {odd[0]}: real is one of {', '.join(REAL)}")
    return {slug: Page(slug, **{**row, "parameters": tuple(row["parameters"])}) for slug, row in declared}


def nearest(word: str, known: Collection[str]) -> str:
    """The known word that is most like the given one; one that begins with it comes first.

    Examples
    --------
    >>> nearest("n_itmes", ["seed", "n_cases", "models"])
    'n_cases'
    """
    word = str(word)
    begins = [candidate for candidate in known if word and candidate.startswith(word)]
    return max(begins or known, key=lambda candidate: difflib.SequenceMatcher(None, word, candidate).ratio())


def find_page(slug: str) -> Page:
    """The page of that name.

    Raises
    ------
    ParameterError
        If there is none; the nearest name is given.
    """
    if slug not in pages():
        raise ParameterError(f"no page {slug!r}; did you mean {nearest(slug, pages())!r}? `nsh pages` lists them")
    return pages()[slug]
