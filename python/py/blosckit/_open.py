"""`open`: anything of the family by its content."""

from __future__ import annotations

import os
from typing import Any, Literal, Protocol, TypeAlias, cast, runtime_checkable

from blosckit import _native
from blosckit._base import Reopen
from blosckit._edit import ArrayEditor, FrameEditor, StoreEditor
from blosckit._group import Data, wrap
from blosckit._threads import threads as threads_of

Mode: TypeAlias = Literal["r", "r+"]


@runtime_checkable
class SeekableFile(Protocol):
    """A file that is opened in binary mode."""

    def seek(self, offset: int, whence: int = ..., /) -> Any: ...
    def read(self, size: int = ..., /) -> Any: ...


def open(
    source: Any,
    mode: Mode = "r",
    *,
    offset: int = 0,
    fs: Any = None,
    store: Any = None,
    threads: int | None = None,
    max_memory: int | None = None,
    max_chunk: int | None = None,
) -> Data | ArrayEditor | FrameEditor | StoreEditor:
    """Opens a file, a folder, a part of one, bytes in memory, or an object with `seek` and `read`.

    The content tells the format, never the suffix. `STORE::/key` is a member, `FILE@N` what
    begins at byte N, `FILE#N` the frame of this number.

    With `fs` (of fsspec) or `store` (of obstore) the source is a path in there. `threads` work on
    long reads (`None`: one for each processor). `max_memory` bounds what is in memory at a time,
    and `max_chunk` what one chunk may hold (bytes).

    With mode `r+` an array, a frame or a store at a path is opened to be changed.
    """
    if mode == "r+":
        if fs is not None or store is not None or offset:
            raise ValueError("only a whole file at a path is changed")
        return _open_to_change(os.fspath(source), threads)
    if mode != "r":
        raise ValueError(f"mode {mode!r}: 'r' or 'r+'; `create` makes new files")
    if offset < 0:
        raise ValueError("an offset is not negative")
    limits = (threads, max_memory, max_chunk)
    if fs is not None or store is not None:
        path = os.fspath(source)
        ranges = _FsRanges(fs, path) if fs is not None else _StoreRanges(store, path)
        reopen: Reopen = (_reopen_remote, (source, fs, store, offset, *limits))
        return wrap(_of_object("ranges", ranges, path, offset, limits), reopen)
    if isinstance(source, str | os.PathLike):
        return _open_path(os.fspath(source), offset, limits)
    if isinstance(source, SeekableFile):
        name = str(getattr(source, "name", type(source).__name__))
        return wrap(_of_object("file", source, name, offset, limits), None)
    reopen = (_reopen_bytes, (_Kept(source), offset, *limits))
    return wrap(_of_object("buffer", source, "bytes", offset, limits), reopen)


_Limits: TypeAlias = tuple[int | None, int | None, int | None]


def _open_path(path: str, offset: int, limits: _Limits) -> Data:
    name = f"{path}@{offset}" if offset else path
    n, max_memory, max_chunk = limits
    handle = _native.open_path(name, threads_of(n), max_memory, max_chunk)
    # Another process may have another current directory.
    return wrap(handle, (_open_path, (_absolute(path), offset, limits)))


def _absolute(path: str) -> str:
    return path if "://" in path else os.path.join(os.getcwd(), path)


def _of_object(kind: str, source: Any, name: str, offset: int, limits: _Limits) -> object:
    n, max_memory, max_chunk = limits
    return _native.open_object(
        kind, source, name, offset, threads_of(n), max_memory, max_chunk
    )


def _open_to_change(path: str, threads: int | None) -> ArrayEditor | FrameEditor | StoreEditor:
    with cast(Data, open(path)) as found:
        kind, format = found._kind, found.format
    if kind == "array" and format in ("b2nd", "sframe"):
        return ArrayEditor(_native.ArrayWriter.open(path, threads_of(threads)), path)
    if kind == "bytes" and format in ("b2frame", "sframe"):
        return FrameEditor(_native.FrameWriter.open(path), path)
    if format in ("b2z", "b2d", "b2e") or (kind == "table" and path.endswith((".b2z", ".b2d"))):
        return StoreEditor(_native.StoreWriter(path, False), path)
    raise ValueError(f"{path}: {format} is not changed in place; `convert` makes a copy")


class _Kept:
    """A buffer that is pickled as its bytes."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def __reduce__(self) -> tuple[type[_Kept], tuple[bytes]]:
        return _Kept, (bytes(memoryview(self.source).cast("B")),)

    def __dask_tokenize__(self) -> bytes:
        return bytes(memoryview(self.source).cast("B"))


def _reopen_bytes(kept: _Kept, offset: int, *limits: int | None) -> Data:
    n, max_memory, max_chunk = limits
    opened = open(
        kept.source, offset=offset, threads=n, max_memory=max_memory, max_chunk=max_chunk
    )
    return cast(Data, opened)


def _reopen_remote(source: Any, fs: Any, store: Any, offset: int, *limits: int | None) -> Data:
    n, max_memory, max_chunk = limits
    opened = open(
        source,
        offset=offset,
        fs=fs,
        store=store,
        threads=n,
        max_memory=max_memory,
        max_chunk=max_chunk,
    )
    return cast(Data, opened)


class _FsRanges:
    """A file of fsspec by ranges."""

    def __init__(self, fs: Any, path: str) -> None:
        self._fs, self._path = fs, path

    def size(self) -> int:
        return int(self._fs.size(self._path))

    def get_ranges(self, starts: list[int], ends: list[int]) -> list[Any]:
        return list(self._fs.cat_ranges([self._path] * len(starts), starts, ends))


class _StoreRanges:
    """An object of obstore, or of another store of the protocol obspec, by ranges."""

    def __init__(self, store: Any, path: str) -> None:
        self._store, self._path = store, path

    def size(self) -> int:
        head = self._store.head(self._path)
        return int(head["size"])

    def get_ranges(self, starts: list[int], ends: list[int]) -> list[Any]:
        return list(self._store.get_ranges(self._path, starts=starts, ends=ends))
