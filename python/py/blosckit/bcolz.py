"""Arrays and tables of bcolz: `import blosckit.bcolz as bcolz`.

Enough for notebooks and for zipline's reader: what is on the disk is read, appended to and made
shorter. Columns of objects come from a reader of pickles of our own, which runs nothing.
"""

from __future__ import annotations

import json
import os
from collections import namedtuple
from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from blosckit import _dtype, _native
from blosckit._array import Array
from blosckit._frame import Objects
from blosckit._open import open as _open
from blosckit._table import Table

_BLOCK = 1 << 16


class _Attrs(dict[str, Any]):
    """The attributes; a new value is written at once."""

    def __init__(self, owner: carray | ctable, items: dict[str, Any]) -> None:
        super().__init__(items)
        self._owner = owner

    def __setitem__(self, name: str, item: Any) -> None:
        self._owner._write(lambda writer: writer.set_attribute(name, json.dumps(item)))
        super().__setitem__(name, item)


class _OnDisk:
    """A folder, which is opened again after each change."""

    rootdir: str
    mode: str
    _is_table = False

    def _write(self, work: Any) -> None:
        if self.mode == "r":
            raise OSError(f"{self.rootdir} was opened with mode 'r'")
        writer = _native.BcolzWriter.open(self.rootdir, self._is_table)
        try:
            work(writer)
        finally:
            writer.close()
        self._reopen()

    def _reopen(self) -> None:
        raise NotImplementedError

    def flush(self) -> None:
        """Changes are on the disk already."""

    def trim(self, nitems: int) -> None:
        """Removes the last items."""
        self._write(lambda writer: writer.trim(nitems))

    def resize(self, nitems: int) -> None:
        """Removes items at the end, or adds those of the fill value."""
        self._write(lambda writer: writer.resize(nitems))


class carray(_OnDisk):  # noqa: N801
    """An array of bcolz."""

    def __init__(
        self,
        array: npt.ArrayLike | None = None,
        *,
        rootdir: str | os.PathLike[str],
        mode: str = "a",
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        self.rootdir, self.mode = os.fspath(rootdir), mode
        if array is not None:
            items = np.asarray(array, dtype=dtype)
            _make_room(self.rootdir, mode)
            text = _dtype.to_text(items.dtype)
            row = list(items.shape[1:])
            writer = _native.BcolzWriter.create_array(self.rootdir, text, row)
            writer.append((_memory(items),))
            writer.close()
        self._reopen()

    def _reopen(self) -> None:
        found = _open(self.rootdir)
        if not isinstance(found, Array | Objects):
            raise ValueError(f"{self.rootdir} is no array of bcolz")
        self._data = found
        self.attrs = _Attrs(self, found.attrs)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of an item."""
        return self._data.dtype if isinstance(self._data, Array) else np.dtype(object)

    @property
    def shape(self) -> tuple[int, ...]:
        """Items per dimension."""
        return self._data.shape if isinstance(self._data, Array) else (len(self._data),)

    @property
    def nbytes(self) -> int:
        """Bytes of the items."""
        return self._data.nbytes if isinstance(self._data, Array) else 0

    @property
    def cbytes(self) -> int:
        """Bytes on the disk."""
        return (self._data.cbytes or 0) if isinstance(self._data, Array) else 0

    @property
    def chunklen(self) -> int:
        """Rows of a chunk."""
        return (self._data.chunks or (1,))[0] if isinstance(self._data, Array) else 1

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, carray):
            key = key[:]
        if isinstance(self._data, Objects):
            found = self._data[key]
            return np.array(found, dtype=object) if isinstance(found, list) else found
        return self._data[key]

    def __iter__(self) -> Iterator[Any]:
        return self.iter()

    def iter(self, start: int = 0, stop: int | None = None, step: int = 1) -> Iterator[Any]:
        """The items, one after the other."""
        last = len(self) if stop is None else min(stop, len(self))
        for at in range(start, last, _BLOCK * step):
            yield from self[at : min(at + _BLOCK * step, last) : step]

    def sum(self) -> Any:
        """The sum of all items."""
        parts = [self[at : at + _BLOCK].sum(axis=0) for at in range(0, len(self), _BLOCK)]
        return np.sum(parts, axis=0) if parts else self.dtype.type(0)

    def append(self, array: npt.ArrayLike) -> None:
        """Adds items at the end."""
        items = np.asarray(array, dtype=self.dtype)
        self._write(lambda writer: writer.append((_memory(items),)))

    def __repr__(self) -> str:
        return f"carray({self.shape}, {self.dtype}, rootdir={self.rootdir!r})"


class ctable(_OnDisk):  # noqa: N801
    """A table of bcolz."""

    _is_table = True

    def __init__(
        self,
        columns: Sequence[npt.ArrayLike] | None = None,
        names: Sequence[str] | None = None,
        *,
        rootdir: str | os.PathLike[str],
        mode: str = "a",
    ) -> None:
        self.rootdir, self.mode = os.fspath(rootdir), mode
        if columns is not None:
            arrays = [np.asarray(column) for column in columns]
            given = list(names or [f"f{at}" for at in range(len(arrays))])
            _make_room(self.rootdir, mode)
            writer = _native.BcolzWriter.create_table(
                self.rootdir,
                [
                    (name, _dtype.to_text(array.dtype), list(array.shape[1:]))
                    for name, array in zip(given, arrays, strict=True)
                ],
            )
            writer.append(tuple(_memory(array) for array in arrays))
            writer.close()
        self._reopen()

    def _reopen(self) -> None:
        found = _open(self.rootdir)
        if not isinstance(found, Table):
            raise ValueError(f"{self.rootdir} is no table of bcolz")
        self._data = found
        self.attrs = _Attrs(self, found.attrs)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return self._data.columns

    @property
    def cols(self) -> dict[str, carray]:
        """The columns as arrays."""
        return {name: self[name] for name in self.names}

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of a row."""
        fields = [
            (field.name, field.dtype if field.dtype is not None else object, field.item_shape)
            for field in self._data.schema
        ]
        return np.dtype(fields)

    @property
    def shape(self) -> tuple[int]:
        """Number of rows."""
        return (len(self),)

    @property
    def nbytes(self) -> int:
        """Bytes of the values."""
        return self._data.nbytes

    @property
    def cbytes(self) -> int:
        """Bytes on the disk."""
        return self._data.cbytes

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self.names:
                raise KeyError(key)
            return carray(rootdir=os.path.join(self.rootdir, key), mode=self.mode)
        if isinstance(key, carray):
            key = key[:]
        wanted = np.arange(len(self))[key]
        rows = np.empty(wanted.shape, dtype=self.dtype)
        for name in self.names:
            rows[name] = self._data[name][key]
        return rows[()] if rows.ndim == 0 else rows

    def __iter__(self) -> Iterator[Any]:
        return self.iter()

    def iter(
        self, start: int = 0, stop: int | None = None, outcols: Sequence[str] | None = None
    ) -> Iterator[Any]:
        """The rows, one after the other, as named tuples."""
        names = list(outcols or self.names)
        row = namedtuple("row", names, rename=True)  # type: ignore[misc]
        last = len(self) if stop is None else min(stop, len(self))
        for at in range(start, last, _BLOCK):
            columns = [self._data[name][at : min(at + _BLOCK, last)] for name in names]
            for items in zip(*columns, strict=True):
                yield row(*items)

    def where(self, expression: Any, outcols: Sequence[str] | None = None) -> Iterator[Any]:
        """The rows that fulfil a condition, as named tuples."""
        names = list(outcols or self.names)
        row = namedtuple("row", names, rename=True)  # type: ignore[misc]
        for block in self.whereblocks(expression, outfields=names):
            for items in zip(*(block[name] for name in names), strict=True):
                yield row(*items)

    def fetchwhere(self, expression: Any, outcols: Sequence[str] | None = None) -> Any:
        """The rows that fulfil a condition, as an array of records."""
        return self._of_rows(self._rows(expression), list(outcols or self.names))

    def whereblocks(
        self, expression: Any, blen: int | None = None, outfields: Sequence[str] | None = None
    ) -> Iterator[Any]:
        """The same, block by block."""
        rows, size = self._rows(expression), blen or _BLOCK
        for at in range(0, len(rows), size):
            yield self._of_rows(rows[at : at + size], list(outfields or self.names))

    def _rows(self, expression: Any) -> npt.NDArray[np.int64]:
        if isinstance(expression, str):
            return self._data.rows_where(expression)
        mask = expression[:] if isinstance(expression, carray) else np.asarray(expression)
        return cast("npt.NDArray[np.int64]", np.flatnonzero(mask))

    def _of_rows(self, rows: npt.NDArray[np.int64], names: list[str]) -> Any:
        found = np.empty(len(rows), dtype=np.dtype([(n, *_field(self.dtype, n)) for n in names]))
        for name in names:
            found[name] = self._data[name][rows]
        return found

    def todataframe(self, columns: Sequence[str] | None = None) -> Any:
        """The table as a data frame of pandas."""
        import pandas as pd

        return pd.DataFrame({name: self._data[name][:] for name in columns or self.names})

    def append(self, cols: Any) -> None:
        """Adds rows: a sequence of columns, or an array of records."""
        if isinstance(cols, np.ndarray) and cols.dtype.names:
            cols = [cols[name] for name in self.names]
        dtype = self.dtype
        arrays = [
            np.asarray(column, dtype=_field(dtype, name)[0])
            for name, column in zip(self.names, cols, strict=True)
        ]
        self._write(lambda writer: writer.append(tuple(_memory(array) for array in arrays)))

    def __repr__(self) -> str:
        return f"ctable({self.shape}, {self.names}, rootdir={self.rootdir!r})"


def _field(dtype: np.dtype[Any], name: str) -> tuple[np.dtype[Any], tuple[int, ...]]:
    inner = dtype[name]
    return inner.subdtype if inner.subdtype is not None else (inner, ())


def _memory(items: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    return _dtype.as_bytes(np.ascontiguousarray(items))


def _make_room(rootdir: str, mode: str) -> None:
    if os.path.lexists(rootdir):
        raise FileExistsError(17, "File exists", rootdir)
    if mode == "r":
        raise OSError(f"{rootdir} cannot be made with mode 'r'")


def open(rootdir: str | os.PathLike[str], mode: str = "a") -> carray | ctable:
    """The array or the table of a folder."""
    with _open(os.fspath(rootdir)) as found:
        is_table = isinstance(found, Table)
    return (ctable if is_table else carray)(rootdir=rootdir, mode=mode)


def walk(
    directory: str | os.PathLike[str], classname: str | None = None, mode: str = "a"
) -> Iterator[carray | ctable]:
    """The arrays and tables in the folders of a folder."""
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        if not os.path.isdir(path):
            continue
        try:
            found = open(path, mode)
        except (OSError, ValueError):
            yield from walk(path, classname, mode)
            continue
        if classname is None or type(found).__name__ == classname:
            yield found


__all__ = ["carray", "ctable", "open", "walk"]
