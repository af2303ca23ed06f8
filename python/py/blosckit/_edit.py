"""Objects that are changed. Changes count from `commit` on, or from the end of `with`."""

from __future__ import annotations

import builtins
import os
from collections.abc import Iterator, MutableMapping
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from blosckit import _dtype, _index, _native
from blosckit._array import Array
from blosckit._frame import Frame
from blosckit._group import Data
from blosckit._threads import DEFAULT


class _Writer(Protocol):
    def commit(self) -> None: ...
    def close(self) -> None: ...


class Station:
    """Where something new is made, until it is whole and gets its name."""

    def __init__(self, target: str, replaces: bool) -> None:
        self._native = _native.Station(target)
        self._replaces = replaces
        self.path = os.fspath(self._native.path)

    def put_in_place(self) -> None:
        self._native.put_in_place(self._replaces)

    def close(self) -> None:
        self._native.close()


class Editor:
    """The common part of all writers: an end, with or without a commit."""

    def __init__(self, writer: _Writer, path: str, station: Station | None = None) -> None:
        self._any_writer = writer
        self._station = station
        self.path = path
        self.closed = False

    def _reopen(self) -> None:
        """Goes on with the file that was put in its place."""

    def commit(self) -> None:
        """Makes all changes so far count: whatever happens, the old or the new state is there."""
        self._any_writer.commit()
        if self._station is not None:
            self._put_in_place(self._station)
            self._reopen()

    def _put_in_place(self, station: Station) -> None:
        self._any_writer.close()
        station.put_in_place()
        self._station = None

    def close(self) -> None:
        """Commits, and ends."""
        if not self.closed:
            self._any_writer.commit()
            if self._station is not None:
                self._put_in_place(self._station)
            self.discard()

    def discard(self) -> None:
        """Ends; changes since the last commit are lost."""
        self._any_writer.close()
        if self._station is not None:
            self._station.close()
        self.closed = True

    def __enter__(self) -> Self:
        if self.closed:
            raise ValueError("I/O operation on a closed object")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        elif not self.closed:
            self.discard()

    def __repr__(self) -> str:
        state = ", closed" if self.closed else ""
        return f"<blosckit.{type(self).__name__} {self.path!r}{state}>"


class _AttributeWriter(Protocol):
    def set_attribute(self, name: str, item: Any, /) -> None: ...
    def delete_attribute(self, name: str, /) -> bool: ...


class Attributes(MutableMapping[str, Any]):
    """Attributes of something that is changed. Reading them commits what was changed before."""

    def __init__(self, writer: _AttributeWriter, editor: ArrayEditor | FrameEditor) -> None:
        self._writer, self._editor = writer, editor

    def _now(self) -> dict[str, Any]:
        return self._editor._committed().attrs

    def __getitem__(self, name: str) -> Any:
        return self._now()[name]

    def __setitem__(self, name: str, item: Any) -> None:
        self._writer.set_attribute(name, item)

    def __delitem__(self, name: str) -> None:
        if not self._writer.delete_attribute(name):
            raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())


class ArrayEditor(Editor):
    """An array that is made or changed. Changes are committed before it is read."""

    def __init__(
        self, writer: _native.ArrayWriter, path: str, station: Station | None = None
    ) -> None:
        super().__init__(writer, path, station)
        self._writer = writer
        self.dtype: np.dtype[Any] = _dtype.from_text(writer.dtype)

    def _reopen(self) -> None:
        self._any_writer = self._writer = _native.ArrayWriter.open(self.path, DEFAULT)

    @property
    def shape(self) -> tuple[int, ...]:
        """Items per dimension, committed or not."""
        return self._writer.shape

    @property
    def attrs(self) -> Attributes:
        """The attributes."""
        return Attributes(self._writer, self)

    def _committed(self) -> Array:
        self.commit()
        return Array(_array_at(self.path), None)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        return self._committed()[key]

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Any:
        return self._committed().__array__(dtype, copy)

    def __setitem__(self, key: Any, value: Any) -> None:
        plan = _index.plan(key, self.shape)
        if isinstance(plan, _index.Basic):
            self._write(plan.picks, self._items(value, plan.shape))
            return
        # Lists and masks: the box around them is read, changed and written.
        whole = tuple(slice(0, n) for n in self.shape)
        picks = plan.picks if isinstance(plan, _index.Box) else whole
        inner = plan.inner if isinstance(plan, _index.Box) else key
        box = np.asarray(self[picks])
        box[inner] = value
        self._write(picks, box)

    def _items(self, value: Any, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        items = np.asarray(value, dtype=self.dtype)
        return np.ascontiguousarray(np.broadcast_to(items, shape))

    def _write(self, picks: tuple[int | slice, ...], items: npt.NDArray[Any]) -> None:
        if items.size:
            self._writer.write(picks, _dtype.as_bytes(np.ascontiguousarray(items)))

    def append(self, block: Any, axis: int = 0) -> None:
        """Adds items at the end of a dimension; their shape is that of the array but for it."""
        ndim = len(self.shape)
        if not -ndim <= axis < ndim:
            raise ValueError(f"axis {axis} of an array of {ndim} dimensions")
        items = np.ascontiguousarray(block, dtype=self.dtype)
        expected = [n for at, n in enumerate(self.shape) if at != axis % ndim]
        if [n for at, n in enumerate(items.shape) if at != axis % ndim] != expected:
            raise ValueError(f"a block of shape {items.shape} for an array of {self.shape}")
        if items.size:
            self._writer.append(axis % ndim, _dtype.as_bytes(items))

    def resize(self, shape: tuple[int, ...]) -> None:
        """Another shape: dimensions shrink and grow at their ends; new items are zero."""
        if any(n < 0 for n in shape):
            raise ValueError("lengths are not negative")
        self._writer.resize(list(shape))


class FrameEditor(Editor):
    """A frame of bytes that is made or changed."""

    def __init__(
        self, writer: _native.FrameWriter, path: str, station: Station | None = None
    ) -> None:
        super().__init__(writer, path, station)
        self._writer = writer

    def _reopen(self) -> None:
        self._any_writer = self._writer = _native.FrameWriter.open(self.path)

    @property
    def attrs(self) -> Attributes:
        """The attributes."""
        return Attributes(self._writer, self)

    def _committed(self) -> Frame:
        self.commit()
        handle = _native.open_path(self.path, DEFAULT, None, None)
        if not isinstance(handle, _native.Frame):
            raise ValueError(f"{self.path} is no frame of bytes any more")
        return Frame(handle, None)

    def append(self, data: Any) -> None:
        """Adds bytes at the end."""
        self._writer.append(data)

    def write(self, start: int, data: Any) -> None:
        """Writes bytes over those from a position on."""
        self._writer.write(start, data)

    def read(self, start: int = 0, nbytes: int | None = None) -> bytes:
        """Bytes, as `Frame.read`; what was changed is committed first."""
        return self._committed().read(start, nbytes)


class StoreEditor(Editor):
    """A store that is made or changed: a mapping of keys to arrays, bytes and tables.

    Nothing is written before the end of `with`, or `close`.
    """

    def __init__(
        self, writer: _native.StoreWriter, path: str, station: Station | None = None
    ) -> None:
        super().__init__(writer, path, station)
        self._writer = writer

    def commit(self) -> None:
        """Puts the store in place, and ends."""
        if not self.closed:
            self._writer.commit()
            if self._station is not None:
                self._put_in_place(self._station)
            self.closed = True

    def close(self) -> None:
        """Puts the store in place, and ends."""
        self.commit()

    def keys(self) -> list[str]:
        """The keys of all values, parts of tables among them."""
        return self._writer.keys()

    def __contains__(self, key: str) -> bool:
        return _key(key) in self._writer.keys()

    def __setitem__(self, key: str, value: Any) -> None:
        """An array of NumPy or of a file; anything with a stream of Arrow, as a table; bytes."""
        key = _key(key)
        if hasattr(value, "__arrow_c_stream__"):
            self._writer.insert_arrow(key, value, True)
        elif isinstance(value, builtins.bytes | bytearray | memoryview):
            self._writer.insert_frame(key, pack_bytes(value))
        else:
            self._writer.insert_frame(key, pack_array(np.asarray(value)))

    def append(self, key: str, rows: Any) -> int:
        """Adds rows to a table, by a stream of Arrow; their number."""
        return self._writer.insert_arrow(_key(key), rows, False)

    def __delitem__(self, key: str) -> None:
        self._writer.remove(_key(key))

    def set_attr(self, name: str, value: Any, key: str = "/") -> None:
        """Sets an attribute of a group, a table or a value; `/` is the store itself."""
        self._writer.set_attribute(_key(key), name, value)

    def delete_attr(self, name: str, key: str = "/") -> bool:
        """Removes an attribute, and says whether there was one."""
        return self._writer.delete_attribute(_key(key), name)


def _key(key: str) -> str:
    return key if key.startswith("/") else f"/{key}"


def _array_at(path: str) -> _native.Array:
    handle = _native.open_path(path, DEFAULT, None, None)
    if not isinstance(handle, _native.Array):
        raise ValueError(f"{path} is no array any more")
    return handle


def options_of(
    codec: str | None = None,
    level: int | None = None,
    shuffle: str | None = None,
    chunks: tuple[int, ...] | None = None,
    blocks: tuple[int, ...] | None = None,
    fill: builtins.bytes | None = None,
    checksums: str | None = None,
) -> dict[str, Any]:
    """Settings for the extension module; those of `None` are its own to choose."""
    return {
        "codec": codec,
        "level": level,
        "shuffle": shuffle,
        "chunks": None if chunks is None else list(chunks),
        "blocks": None if blocks is None else list(blocks),
        "fill": fill,
        "checksums": checksums,
    }


def pack_array(
    array: npt.ArrayLike,
    *,
    codec: str = "zstd",
    level: int = 5,
    shuffle: str = "byte",
    chunks: tuple[int, ...] | None = None,
    blocks: tuple[int, ...] | None = None,
    threads: _native.Threads = DEFAULT,
) -> builtins.bytes:
    """An array as a frame in memory, with its type and its shape."""
    items = np.asarray(array)
    options = options_of(codec=codec, level=level, shuffle=shuffle, chunks=chunks, blocks=blocks)
    text = _dtype.to_text(items.dtype)
    writer = _native.ArrayWriter.create(None, False, list(items.shape), text, options, threads)
    if items.nbytes:
        whole = tuple(slice(0, n) for n in items.shape)
        writer.write(whole, _dtype.as_bytes(np.ascontiguousarray(items)))
    return writer.finish()


def unpack_array(frame: Any) -> npt.NDArray[Any]:
    """The array of a frame in memory."""
    handle = _native.open_object("buffer", frame, "bytes", 0, DEFAULT, None, None)
    if not isinstance(handle, _native.Array):
        raise ValueError("the frame holds no array")
    whole = Array(handle, None)[...]
    return np.asarray(whole)


def pack_bytes(data: Any, *, codec: str = "zstd", level: int = 5) -> builtins.bytes:
    """Bytes as a frame in memory."""
    view = memoryview(data)
    writer = _native.FrameWriter.create(None, view.itemsize, None, codec, level, "byte")
    writer.append(data)
    return writer.finish()


__all__ = ["ArrayEditor", "Attributes", "Data", "FrameEditor", "StoreEditor"]
