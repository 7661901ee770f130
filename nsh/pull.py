"""Fetch the papers' released files from their public repository, at one commit, and say where they are.

The list `data/released_files.csv` holds path, size and SHA-256 of each file. Files over 4 MiB of the public repository
(five files of B2 answers, the answers of NarrativeShield, a CSV copy of the questions) are not in it. The files were
released for non-commercial research with attribution to MedQA: they are fetched for the user and are no part of this
package.
"""

import csv
import os
from dataclasses import dataclass
from pathlib import Path

from nsh.errors import MissingDataError, ParameterError
from nsh.place import cache_folder
from nsh.progress import Progress

COMMIT = "6dc623f87c5ca77412d3fb1259878f6e2b845508"
BASE = f"https://raw.githubusercontent.com/prabhjotschugh/narrativeshield-sdoh-medqa/{COMMIT}/"
LIST = Path(__file__).parent / "data" / "released_files.csv"


@dataclass(frozen=True, slots=True)
class ReleasedFile:
    """A released file: its path in the repository, its size in bytes and its SHA-256."""

    path: str
    bytes: int
    sha256: str


def listed_files() -> list[ReleasedFile]:
    """Return the files that `pull` fetches.

    Examples
    --------
    >>> "dataset/medqa_1000_filtered.jsonl" in [file.path for file in listed_files()]
    True
    """
    with LIST.open(encoding="utf-8", newline="") as table:
        return [ReleasedFile(row["path"], int(row["bytes"]), row["sha256"]) for row in csv.DictReader(table)]


def released_cache() -> Path:
    """Return the folder that `pull` fills: `released/<commit>` in the user's cache ($NSH_CACHE)."""
    return cache_folder() / "released" / COMMIT[:7]


def released_dir(setting: str | Path = "auto") -> Path | None:
    """Return the folder of the released files.

    Parameters
    ----------
    setting : str or pathlib.Path
        "auto": the folder that $NSH_RELEASED_DIR names, else the cache if something was pulled, else None.
        "require": the same, but an error instead of None. "off": None. Anything else is the folder itself.

    Raises
    ------
    MissingDataError
        If a named folder does not exist or holds no released files, or "require" finds none.

    Examples
    --------
    >>> released_dir("off") is None
    True
    """
    if setting == "off":
        return None
    chosen = setting in ("auto", "require")
    named = os.environ.get("NSH_RELEASED_DIR") if chosen else setting
    if named:
        folder = Path(named).expanduser()
        if not any((folder / part).is_dir() for part in ("dataset", "results")):
            origin = "$NSH_RELEASED_DIR" if chosen else "the parameter `released`"
            raise MissingDataError(f"{origin} names {folder}, expected a folder that holds dataset/ and results/")
        return folder
    if any((released_cache() / file.path).is_file() for file in listed_files()):
        return released_cache()
    if setting == "require":
        raise MissingDataError(
            f"the released files are not on this machine: run `nsh data pull`, which fills {released_cache()}, "
            "or let $NSH_RELEASED_DIR name a copy of the public repository"
        )
    return None


def pull(
    folder: str | Path | None = None,
    progress: bool = False,
    base_url: str | None = None,
    timeout: float = 30.0,
    retries: int = 3,
) -> Path:
    """Fetch the released files that are not there yet.

    Each file is either complete, its checksum right, or absent; files that are there with the right checksum are not
    asked for again, so an interrupted call goes on where it stopped.

    Parameters
    ----------
    folder : str or pathlib.Path, optional
        Where to; `released_cache()` by default.
    progress : bool
        Count the files on standard error.
    base_url : str, optional
        Where from; by default $NSH_RELEASED_URL, else the public repository at its commit.
    timeout : float
        Seconds without any data after which a try is given up.
    retries : int
        Further tries of a file after the first, with 1, 2, 3, ... seconds between them.

    Returns
    -------
    pathlib.Path
        The folder.

    Raises
    ------
    ParameterError
        If the address is no http(s) address.
    MissingDataError
        If a file cannot be had; it names the file and the cause. Files fetched before it are kept.

    Examples
    --------
    >>> pull()  # doctest: +SKIP
    PosixPath('/home/me/.cache/nsh/released/6dc623f')
    """
    import pooch

    folder = Path(folder or released_cache()).expanduser()
    base = (base_url or os.environ.get("NSH_RELEASED_URL") or BASE).rstrip("/") + "/"
    if not base.startswith(("https://", "http://")):
        raise ParameterError(f"address of the released files {base!r}: expected one that starts with https://")
    registry = {file.path: f"sha256:{file.sha256}" for file in listed_files()}
    source = pooch.create(path=folder, base_url=base, registry=registry, retry_if_failed=retries)
    downloader = pooch.HTTPDownloader(timeout=timeout)
    pooch.get_logger().setLevel("WARNING")  # not a line for every file
    with Progress(len(registry) if progress else 0, "released files", unit="file") as count:
        for path in registry:
            _fetch(source, path, downloader, timeout)
            count.update()
    return folder


def _fetch(source, path: str, downloader, timeout: float) -> None:
    """Fetch one file, or say in a sentence why not."""
    from requests.exceptions import HTTPError, RequestException, Timeout

    try:
        source.fetch(path, downloader=downloader)
    except HTTPError as error:
        cause = f"the server answered {error.response.status_code}"
    except RequestException as error:
        # a stall in the middle of a file comes as a ConnectionError that says "timed out"
        stalled = isinstance(error, Timeout) or "timed out" in str(error)
        cause = f"the server sent nothing for {timeout:g} s" if stalled else "there is no connection, or it broke off"
    except ValueError:
        cause = "what was sent has the wrong SHA-256 checksum"
    except OSError as error:
        cause = f"it cannot be written to {source.path} ({error.strerror or error})"
    else:
        return
    raise MissingDataError(
        f"{path} could not be fetched from {source.base_url}: {cause}. "
        "Files fetched so far are kept; the next `nsh data pull` goes on from here"
    )
