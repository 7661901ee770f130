"""`nsh live`: refuses what it cannot serve; serves the built book with a kernel, on this computer alone."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from browser import launched
from typer.testing import CliRunner

from nsh import live as live_module
from nsh.cli import app
from nsh.errors import BuildError, ParameterError

ROOT = Path(__file__).resolve().parents[1]
COMMAND = [sys.executable, "-c", "from nsh.cli import main; main()", "live"]
# replace a live cell's code, and run it
RUN = """([cell, code]) => {
  cell.querySelector('.CodeMirror').CodeMirror.setValue(code);
  cell.querySelector('.thebe-run-button').click();
}"""


@pytest.fixture
def checkout(tmp_path, monkeypatch) -> Path:
    """The current folder is a checkout without a book."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "_toc.yml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def started(*arguments: str) -> None:
    """Run the command here; what it raises is raised."""
    CliRunner().invoke(app, ["live", *arguments], catch_exceptions=False)


def with_book(checkout: Path) -> Path:
    """The checkout with a book of one page."""
    page = checkout / "_build" / "html" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text('<meta http-equiv="refresh" content="0; url=notebooks/home.html">', encoding="utf-8")
    return checkout


def test_without_a_book_it_says_how_to_build_one(checkout):
    with pytest.raises(BuildError, match="build it first with `nsh book`"):
        started()


def test_without_jupyter_server_it_says_how_to_install_it(checkout, monkeypatch):
    with_book(checkout)
    monkeypatch.setattr(live_module, "find_spec", lambda name: None)
    with pytest.raises(BuildError, match="pip install jupyter_server"):
        started()


@pytest.mark.slow
def test_a_taken_port_is_refused(checkout):
    with_book(checkout)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        run = subprocess.run([*COMMAND, "--port", port], capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == ParameterError.exit_code
    assert f"error: --port {port}" in run.stderr and "Traceback" not in run.stderr


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address that the command prints for the book that is built; the server is interrupted by its own id."""
    if not (ROOT / "_build" / "html" / "index.html").is_file() or not find_spec("jupyter_server"):
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("no book, or no jupyter_server")
    server = subprocess.Popen(COMMAND, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        yield server.stdout.readline().strip()
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 0


def status(url: str) -> int:
    """The HTTP status of an address."""
    try:
        return urllib.request.urlopen(url, timeout=60).status
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.slow
def test_pages_are_for_everyone_here_and_kernels_for_who_has_the_token(address):
    page, base, token = re.fullmatch(r"(.+)#live=(http://127\.0\.0\.1:\d+)&token=([\w-]{40,})", address).groups()
    assert page.startswith(f"{base}/static/") and status(page) == 200
    assert status(f"{base}/api/kernels") == 403
    assert status(f"{base}/api/kernels?token={token}") == 200
    assert status(f"{base}/api/terminals?token={token}") == 404
    elsewhere = urllib.request.Request(f"{base}/api/kernels?token={token}", headers={"Host": "example.org"})
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(elsewhere, timeout=60)


@pytest.mark.slow
def test_a_cell_is_run_and_its_output_changes(address, chromium):
    page_with_code = "notebooks/voices-03-benchmark.html"
    base, fragment = address.split("/static/")[0], address.split("#")[1]
    with launched(chromium) as browser:
        page = browser.new_page()
        outside = []
        page.on(
            "request", lambda request: request.url.startswith((base, "data:", "blob:")) or outside.append(request.url)
        )
        page.goto(f"{base}/static/{page_with_code}#{fragment}")
        assert "token" not in page.url
        page.get_by_role("button", name="Run cells live").click()
        page.get_by_text("Kernel: ready", exact=True).wait_for(timeout=180_000)
        cell = page.locator("div.cell:has(.thebe-run-button:visible)").first
        before = cell.inner_text()
        page.evaluate(RUN, [cell.element_handle(), "import nsh; print('six times seven is', 6 * 7, nsh.__name__)"])
        cell.get_by_text("six times seven is 42 nsh", exact=True).wait_for(timeout=180_000)
        assert "six times seven is 42" not in before
        assert [url for url in outside if not url.startswith(base.replace("http", "ws"))] == []
