"""Take a picture of every page of the built book, at phone and laptop width, in light and dark mode.

python tests/screenshots.py OUTDIR [HTML FOLDER, default _build/html]
"""

import shutil
import sys
from itertools import product
from pathlib import Path

from browser import SCHEMES, html_pages, launched, visit


def main(out: Path, html: Path) -> None:
    """Write `<page>-<width>-<scheme>.png` for every page into a folder."""
    out.mkdir(parents=True, exist_ok=True)
    with launched(shutil.which("chromium") or shutil.which("google-chrome") or "chromium") as browser:
        for file, width, scheme in product(html_pages(html), (390, 1280), SCHEMES):
            name = "-".join(file.relative_to(html).with_suffix("").parts)
            with visit(browser, file, width, scheme) as seen:
                seen.page.screenshot(path=out / f"{name}-{width}-{scheme}.png", full_page=True)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path((sys.argv[2:] or ["_build/html"])[0]))
