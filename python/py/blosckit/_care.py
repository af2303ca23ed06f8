"""Care of files: damage is found, sound parts are saved, formats are changed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from blosckit import _native
from blosckit._edit import options_of
from blosckit._threads import threads as threads_of
from blosckit.errors import CorruptError

#: Called with the bytes that are done, and their total if it is known.
Progress: TypeAlias = Callable[[int, int | None], object]


@dataclass(frozen=True)
class BadChunk:
    """A chunk that cannot be read."""

    chunk: int
    offset: int | None
    error: str


@dataclass(frozen=True)
class Report:
    """The findings in a file; true if everything could be read."""

    path: str
    ok: bool
    nchunks: int = 0
    nbytes: int = 0
    nbad: int = 0
    #: The chunks that cannot be read: the first thousand.
    bad: list[BadChunk] = field(default_factory=list)
    #: Other damage, in words.
    other: list[str] = field(default_factory=list)
    #: Oddities that do no harm.
    notes: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return self.ok

    def raise_for_damage(self) -> None:
        """Raises `CorruptError` with the first fault, if there is one."""
        if self.ok:
            return
        first = self.bad[0] if self.bad else None
        text = first.error if first else (self.other or ["damaged"])[0]
        error = CorruptError(f"{self.path}: {text}")
        error.path = self.path
        if first:
            error.chunk, error.offset = first.chunk, first.offset
        raise error


@dataclass(frozen=True)
class RescueReport:
    """The result of a rescue; true if everything is there that there was."""

    path: str
    complete: bool
    nbytes: int
    filled: int
    actions: list[str]
    bad: list[dict[str, Any]]

    def __bool__(self) -> bool:
        return self.complete


@dataclass(frozen=True)
class ConvertReport:
    """The result of a conversion."""

    path: str
    nbytes: int
    stored_nbytes: int
    #: Chunks that were moved as they are, and those that were compressed anew.
    moved: int
    recompressed: int
    #: Parts of the input that the format cannot hold.
    left_out: list[str]


def verify(
    path: str | os.PathLike[str],
    *,
    threads: int | None = None,
    max_memory: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Decodes everything and compares checksums; changes nothing.

    Damage is in the report; an exception is raised where nothing can be opened. `progress` is
    called every 0.1 seconds from this thread; what it raises ends the work, as Ctrl-C does.
    """
    name = os.fspath(path)
    found = _native.verify(name, threads_of(threads), max_memory, progress)
    return Report(
        path=name,
        ok=found["ok"],
        nchunks=found["nchunks"],
        nbytes=found["nbytes"],
        nbad=found["nbad"],
        bad=[BadChunk(*entry) for entry in found["bad"]],
        other=found["other"],
        notes=found["notes"],
    )


def rescue(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    fill: str | npt.ArrayLike = "zeros",
    threads: int | None = None,
    progress: Progress | None = None,
) -> RescueReport:
    """Writes the sound parts of something damaged as something new; the source is only read.

    `fill` takes the place of what is lost: `zeros`, `nan`, `cut` (what follows moves up), or an
    item of the type of the data.
    """
    new = _new(target)
    item = None if isinstance(fill, str) else np.asarray(fill).tobytes()
    word = fill if isinstance(fill, str) else "value"
    text = _native.rescue_to(os.fspath(source), new, word, item, threads_of(threads), progress)
    found = json.loads(text)
    return RescueReport(
        path=new,
        complete=found["complete"],
        nbytes=found["nbytes"],
        filled=found["filled"],
        actions=found["actions"],
        bad=found.get("bad", []),
    )


def _new(path: str | os.PathLike[str]) -> str:
    name = os.fspath(path)
    if os.path.lexists(name):
        raise FileExistsError(17, "File exists", name)
    return name


def seal(
    path: str | os.PathLike[str],
    checksums: str = "body",
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Gives a frame a checksum in its place: `body`, `chunks` (one of each) or `none`.

    A damaged frame is not sealed, since the new sum would hide the damage. What `progress` raises
    ends the work while the frame is verified, which is most of it.
    """
    verify(path, threads=threads, progress=progress).raise_for_damage()
    _native.seal(os.fspath(path), checksums, progress)


def compact(path: str | os.PathLike[str], *, progress: Progress | None = None) -> int:
    """Writes a frame anew without bytes that nothing refers to; how many these were.

    The frame is the old or the new one, whatever happens. What `progress` raises, and Ctrl-C, come
    when the new one is in its place.
    """
    return _native.compact(os.fspath(path), progress)


_FORMATS = {
    ".b2frame": "b2frame",
    ".b2f": "b2frame",
    ".sframe": "sframe",
    ".b2nd": "b2nd",
    ".blp": "blp",
    ".npy": "npy",
    ".chunk": "chunk",
    ".raw": "raw",
    ".bcolz": "carray",
    ".csv": "csv",
    ".b2z": "b2z",
    ".b2d": "b2d",
}


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    format: str | None = None,
    codec: str | None = None,
    level: int | None = None,
    shuffle: str | None = None,
    chunks: tuple[int, ...] | None = None,
    blocks: tuple[int, ...] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    overwrite: bool = False,
) -> ConvertReport:
    """Writes a file in another format, which the suffix tells unless it is given.

    Chunks are moved as they are wherever the format holds them and nothing else is asked for.
    """
    name = os.fspath(target) if overwrite else _new(target)
    suffix = os.path.splitext(name)[1]
    kind = format or _FORMATS.get(suffix)
    if kind is None:
        raise ValueError(f"{name}: no format has the suffix {suffix!r}")
    options = options_of(codec=codec, level=level, shuffle=shuffle, chunks=chunks, blocks=blocks)
    text = _native.convert(
        os.fspath(source), name, kind, options, threads_of(threads), progress
    )
    found = json.loads(text)
    return ConvertReport(
        path=name,
        nbytes=found["nbytes"],
        stored_nbytes=found["stored_nbytes"],
        moved=found["moved"],
        recompressed=found["recompressed"],
        left_out=found["left_out"],
    )
