"""The state of this build: every page with its parameters, its duration and whether its real run is in it."""

import json
from pathlib import Path

from nsh.declared import pages
from nsh.execute import staged_page
from nsh.place import store_folder
from nsh.provenance import commit, versions
from nsh.scale.speed import speed_section

MISSING, PAGES, SPEED = "_missing.md", "_pages.md", "_speed.md"
SOURCES = {"patterns": "packaged counts", "released": "released files", "run": "a run of the papers' models"}
NONE = "none needed"


def write_status(folder: Path) -> None:
    """Write what `book/status.md` and the first page include, from the executed pages on the stage of a checkout.

    `_build/stage/book/_missing.md` counts the pages whose real run is not in this build; `_pages.md` is a table of
    all pages; `_speed.md` holds what runs took beside their plans, and the benchmarks.
    """
    rows, missing, spent = [], 0, 0.0
    for slug, page in pages().items():
        notebook = json.loads(staged_page(folder, slug).read_text(encoding="utf-8"))["metadata"]
        values = notebook["papermill"]["parameters"]
        here = notebook["nsh"]["real"]
        missing += not here
        spent += notebook["nsh"]["seconds"]
        own = {name: value for name, value in values.items() if value != page.default(name)}
        said = ", ".join(f"{name} {json.dumps(value)}" for name, value in own.items()).replace("|", r"\|")
        stands = "in this build" if here else "**not run**"
        real = NONE if page.real == "none" else f"{SOURCES[page.real]}: {stands}"
        link = f"[{page.title}](../notebooks/{slug}.ipynb)"
        rows.append([link, real, f"`{said}`" if said else "defaults", f"{notebook['nsh']['seconds']:.1f}"])
    head = [["page", "real models, from", "parameters", "seconds"], [":--", ":--", ":--", "--:"]]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in head + rows)
    made = f"{len(rows)} pages, {spent:.0f} seconds of running pages; {', '.join(versions())}; commit {commit()}."
    stage = folder / "_build" / "stage" / "book"
    (stage / PAGES).write_text(f"{made}\n\n{table}\n", encoding="utf-8")
    (stage / SPEED).write_text(speed_section(folder, store_folder()), encoding="utf-8")
    told = (
        f"In this build {len(rows) - missing} of its {len(rows)} computed pages hold their numbers on real models; the "
        f"real run of {missing} is missing. [Status of this build](../book/status.md) names them, and the command for "
        "each.\n"
    )
    (stage / MISSING).write_text(told, encoding="utf-8")
