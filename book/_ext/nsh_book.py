"""The book's one Sphinx extension: mathematics on every page, folds named by what stands on them, and no trace of the
network kernel of sphinx-thebe.

Jupyter Book always loads sphinx-thebe, which writes its settings (an address on the network, a Binder repository) into
every page, twice. Live cells of this book talk to a local server only, through `live.js`, so all of it is taken out.
"""

import re
from typing import Any

from sphinx.application import Sphinx

THEBE_SETTINGS = re.compile(
    r'\s*<script type="text/x-thebe-config">.*?</script>\s*<script>kernelName = [^<]*</script>', re.DOTALL
)
CITATIONS = ('<div role="list" class="citation-list">', '<div class="citation-list">')  # its items are no list items
FOLD_LABEL = ' aria-label="Toggle hidden content"'  # hides the fold's own words from a screen reader


def clean_page(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Take the scripts and settings of sphinx-thebe, and the labels of folds, out of a page."""
    for kind in ("script_files", "css_files"):
        context[kind] = [file for file in context.get(kind, []) if not _is_thebe(file)]
    if "body" in context:
        context["body"] = THEBE_SETTINGS.sub("", context["body"]).replace(FOLD_LABEL, "").replace(*CITATIONS)


def _is_thebe(file: Any) -> bool:
    return "thebe" in str(file.filename or "") or "THEBE" in file.attributes.get("body", "")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx, late enough to see what the other extensions added."""
    app.set_html_assets_policy("always")  # widgets typeset mathematics on pages that have none of their own
    app.connect("html-page-context", clean_page, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
