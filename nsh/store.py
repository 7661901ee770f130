"""Generations are the only expensive thing, so they are kept once, by content.

A store is a folder of append-only JSON Lines files, one file a writer, so that many processes on a shared disk never
touch one another's file. The key of a line is the SHA-256 of all that shapes the text. A torn last line costs that one
generation and nothing else.
"""

import hashlib
import json
import logging
import os
import platform
import re
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO

from nsh.engines import Call, Completion
from nsh.errors import DataError, without_tokens

log = logging.getLogger("nsh")
_LINE = re.compile(rb'\{"key": "([0-9a-f]{64})", ')
_BYTES = 48  # bits of a place in a file
_FIELDS = tuple(field.name for field in fields(Completion))
_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def key_of(identity: dict[str, Any], call: Call) -> str:
    """SHA-256 of the canonical JSON of an engine's identity and a call's request.

    Examples
    --------
    >>> call = Call((("user", "Which?"),), 16)
    >>> key_of({"model": "a"}, call) == key_of({"model": "b"}, call)
    False
    """
    return hashlib.sha256(_canonical({"engine": identity, **call.request()}).encode("ascii")).hexdigest()


def _plain(value: Any) -> Any:
    """Turn NumPy scalars into plain numbers; refuse everything else that JSON does not have."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be kept in the store: {value!r}")


_written = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_plain).encode


def _completion(file: BinaryIO) -> Completion | None:
    """The completion of the line that begins here; None where it is damaged."""
    start = file.tell()
    try:
        row = json.loads(file.readline())
        if isinstance(row["text"], str) and isinstance(row["stamp"], dict):
            return Completion(*(row[name] for name in _FIELDS))
    except (ValueError, KeyError):
        pass
    log.warning("%s: the line at byte %d is damaged and left out", file.name, start)
    return None


class Store:
    """Completions by key.

    Parameters
    ----------
    folder : path
        Made at the first write. Every `*.jsonl` file in it is read; this writer appends to a file of its own.
    also : path, optional
        Another folder of such files, which is only read, and after this one.

    Examples
    --------
    >>> import tempfile
    >>> store = Store(tempfile.mkdtemp())
    >>> store.put("0" * 64, Completion("B"), {"model": "scripted"})
    >>> store.get("0" * 64).text, len(store)
    ('B', 1)
    """

    def __init__(self, folder: str | os.PathLike, also: str | os.PathLike | None = None):
        self.folder = Path(folder)
        self._files: list[Path] = []
        self._places: dict[str, tuple[int, ...]] = {}  # all lines of a key, in order: number of the file, then byte
        self._out = None
        for place in [self.folder, *([Path(also)] if also else [])]:
            for path in sorted(place.glob("*.jsonl")):
                if path.is_file():
                    self._index(path)

    def __len__(self) -> int:
        return len(self._places)

    def _index(self, path: Path) -> None:
        """Note where each key of a file lies; leave out lines that are torn or are not the store's."""
        start, here, foreign = 0, len(self._files) << _BYTES, []
        self._files.append(path)
        with path.open("rb", 1 << 20) as file:
            for line in file:
                match = _LINE.match(line)
                if match and line.rstrip().endswith(b"}"):
                    key = match[1].decode()
                    self._places[key] = (*self._places.get(key, ()), here + start)
                elif line.strip():
                    foreign.append(start)
                start += len(line)
        if foreign:
            said = "%s: %d torn or foreign lines, the first at byte %d, are left out; a torn one is made again"
            log.warning(said, path, len(foreign), foreign[0])

    def get(self, key: str) -> Completion | None:
        """The completion kept under a key, or None; a line that cannot be read counts as absent."""
        return next((completion for _, completion in self.find([key])), None)

    def find(self, keys: Iterable[str]) -> Iterator[tuple[str, Completion]]:
        """Each of the keys that is kept, with its completion, in the order of the files, which are read once through.

        Of several lines under a key the first that can be read counts.
        """
        places = sorted((place, key) for key in keys for place in self._places.get(key, ()))
        found = set()
        for number, alike in groupby(places, lambda place: place[0] >> _BYTES):
            if not self._files[number].is_file():
                log.warning("%s was removed; what it held is made again", self._files[number])
                continue
            with self._files[number].open("rb") as file:
                for place, key in alike:
                    file.seek(place - (number << _BYTES))
                    if key not in found and (completion := _completion(file)):
                        found.add(key)
                        yield key, completion

    def put(self, key: str, completion: Completion, identity: dict[str, Any]) -> None:
        """Append a completion and hand it to the system at once, so that a killed process loses at most its line.

        A hub token is struck out of the stamp.

        Raises
        ------
        DataError
            If the store cannot be written, or its file was removed since.
        """
        row = {"key": key, **{name: getattr(completion, name) for name in _FIELDS[:-1]}}
        stamp = without_tokens(_written(completion.stamp))
        text = f'{_written(row)[:-1]}, "stamp": {stamp}, "engine": {_written(identity)}}}\n'
        line = text.encode("utf-8", "backslashreplace")  # a lone surrogate becomes its escape, read back as it was
        if self._out is None:
            name = f"{platform.node()}-{os.getpid()}-{uuid.uuid4().hex[:8]}.jsonl"
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                self._out = (self.folder / name).open("xb")
            except OSError as error:
                raise DataError(f"the store {self.folder} cannot be written: {error}") from None
            self._files.append(Path(self._out.name))
        if os.fstat(self._out.fileno()).st_nlink == 0 and not Path(self._out.name).is_file():
            raise DataError(f"{self._out.name} was removed while this run wrote it: run again")
        self._places[key] = ((len(self._files) - 1 << _BYTES) + self._out.tell(),)
        self._out.write(line)
        self._out.flush()

    def close(self) -> None:
        """Close this writer's file; the next `put` begins another."""
        if self._out is not None:
            self._out.close()
            self._out = None
