"""Arrays and tables of bcolz: `import blosckit.bcolz as bcolz`.

Enough for notebooks, and for zipline's readers and writers: folders are read, made, appended to and
made shorter. Without `rootdir` the data are in a folder for temporary files, which goes with the
object. Columns of objects come from a reader of pickles of our own, which runs nothing.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import tempfile
import weakref
from collections import namedtuple
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from blosckit import _dtype, _native
from blosckit._array import Array
from blosckit._frame import Objects
from blosckit._open import open as _open
from blosckit._table import Table

_BLOCK = 1 << 16


@dataclass
class cparams:  # noqa: N801
    """How chunks are compressed."""

    clevel: int = 5
    shuffle: int = 1
    cname: str = "lz4"
    quantize: int = 0


def _options(
    given: cparams | None, expectedlen: int | None, chunklen: int | None, dflt: Any
) -> dict[str, Any]:
    chosen = given or cparams()
    return {
        "cname": chosen.cname,
        "clevel": chosen.clevel,
        "shuffle": int(chosen.shuffle),
        "quantize": chosen.quantize,
        "expectedlen": expectedlen,
        "chunklen": chunklen,
        "dflt": None if dflt is None else json.dumps(np.asarray(dflt).tolist()),
    }


class _Attrs(dict[str, Any]):
    """The attributes; a new value is written at once."""

    def __init__(self, owner: _OnDisk, items: dict[str, Any]) -> None:
        super().__init__(items)
        self._owner = owner

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes as a plain dictionary."""
        return dict(self)

    def __setitem__(self, name: str, item: Any) -> None:
        text = json.dumps(item, default=_plain)
        self._owner._write(lambda writer: writer.set_attribute(name, text))
        super().__setitem__(name, json.loads(text))


def _plain(item: Any) -> Any:
    """Numbers and arrays of NumPy as those of JSON."""
    if isinstance(item, np.generic | np.ndarray):
        return item.tolist()
    raise TypeError(f"an attribute of type {type(item).__name__} is none of JSON")


class _OnDisk:
    """A folder, which is opened again after each change."""

    _data: Array | Objects | Table
    _path: str
    mode: str
    _is_temporary = False
    _is_table = False

    @property
    def rootdir(self) -> str | None:
        """The folder; `None` for one that goes with the object."""
        return None if self._is_temporary else self._path

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of items."""
        return int(np.prod(self.shape))

    @property
    def shape(self) -> tuple[int, ...]:
        """Items per dimension."""
        raise NotImplementedError

    def _new_folder(self, rootdir: str | os.PathLike[str] | None, mode: str) -> None:
        """A path at which nothing is; what is there goes with mode `w`, as with bcolz."""
        if mode not in ("r", "w", "a"):
            raise ValueError(f"mode {mode!r}: 'r', 'w' or 'a'")
        self.mode = mode
        if rootdir is None:
            parent = tempfile.mkdtemp(prefix="blosckit-")
            self._path, self._is_temporary = os.path.join(parent, "data"), True
            weakref.finalize(self, shutil.rmtree, parent, ignore_errors=True)
            return
        self._path = os.fspath(rootdir)
        if not os.path.lexists(self._path):
            if mode == "r":
                raise OSError(f"{self._path} cannot be made with mode 'r'")
            return
        if mode != "w":
            raise FileExistsError(17, "File exists", self._path)
        # A folder of something else is not removed.
        with _open(self._path) as found:
            if getattr(found, "format", "") not in ("carray", "ctable"):
                raise FileExistsError(17, "no folder of bcolz", self._path)
        shutil.rmtree(self._path)

    def _old_folder(self, rootdir: str | os.PathLike[str] | None, mode: str) -> None:
        if rootdir is None:
            raise ValueError("data or a rootdir are needed")
        self._path, self.mode = os.fspath(rootdir), mode
        if mode == "w":
            # As with bcolz: what is opened to be written begins empty.
            self._write(lambda writer: writer.resize(0))

    @property
    def attrs(self) -> _Attrs:
        """The attributes; a new value is written at once."""
        return _Attrs(self, self._data.attrs)

    def _write(self, work: Any) -> None:
        if self.mode == "r":
            raise OSError(f"{self._path} was opened with mode 'r'")
        writer = _native.BcolzWriter.open(self._path, self._is_table)
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

    _data: Array | Objects
    #: The table of which it is a column.
    _table: ctable | None = None

    def __init__(
        self,
        array: Any = None,
        cparams: cparams | None = None,
        dtype: npt.DTypeLike | None = None,
        dflt: Any = None,
        expectedlen: int | None = None,
        chunklen: int | None = None,
        rootdir: str | os.PathLike[str] | None = None,
        safe: bool = True,
        mode: str = "a",
    ) -> None:
        if array is None:
            self._old_folder(rootdir, mode)
        else:
            items = np.asarray(array, dtype=dtype)
            if items.ndim == 0:
                items = items.reshape(1)
            options = _options(cparams, expectedlen or len(items), chunklen, dflt)
            self._new_folder(rootdir, mode)
            text = _dtype.to_text(items.dtype)
            row = list(items.shape[1:])
            writer = _native.BcolzWriter.create_array(self._path, text, row, options)
            writer.append((_memory(items),))
            writer.close()
        self._reopen()

    def _reopen(self) -> None:
        found = _open(self._path)
        if not isinstance(found, Array | Objects):
            raise ValueError(f"{self._path} is no array of bcolz")
        self._data = found

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

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Any:
        if copy is False:
            raise ValueError("an array in a folder cannot be had without a copy")
        return np.asarray(self[:], dtype=dtype)

    def __iter__(self) -> Iterator[Any]:
        return self.iter()

    def iter(
        self,
        start: int = 0,
        stop: int | None = None,
        step: int = 1,
        limit: int | None = None,
        skip: int = 0,
    ) -> Iterator[Any]:
        """The items, one after the other."""
        first, last, step = _forward(start, stop, step).indices(len(self))
        return itertools.islice(self._items(first, last, step), skip, _end(skip, limit))

    def _items(self, first: int, last: int, step: int) -> Iterator[Any]:
        for at in range(first, last, _BLOCK * step):
            yield from self[at : min(at + _BLOCK * step, last) : step]

    def sum(self, dtype: npt.DTypeLike | None = None) -> Any:
        """The sum of all items."""
        blocks = (self[at : at + _BLOCK] for at in range(0, len(self), _BLOCK))
        parts = [block.sum(axis=0, dtype=dtype) for block in blocks]
        return np.sum(parts, axis=0) if parts else np.dtype(dtype or self.dtype).type(0)

    def append(self, array: npt.ArrayLike) -> None:
        """Adds items at the end."""
        items = np.asarray(array, dtype=self.dtype)
        self._write(lambda writer: writer.append((_memory(items),)))

    def __repr__(self) -> str:
        return f"carray({self.shape}, {self.dtype}, rootdir={self.rootdir!r})"


class ctable(_OnDisk):  # noqa: N801
    """A table of bcolz."""

    _data: Table
    _is_table = True

    def __init__(
        self,
        columns: Any = None,
        names: Sequence[str] | None = None,
        *,
        cparams: cparams | None = None,
        dflt: Any = None,
        expectedlen: int | None = None,
        chunklen: int | None = None,
        rootdir: str | os.PathLike[str] | None = None,
        safe: bool = True,
        mode: str = "a",
    ) -> None:
        if columns is None:
            self._old_folder(rootdir, mode)
        else:
            given, arrays = _columns(columns, names)
            length = max((len(array) for array in arrays), default=0)
            options = _options(cparams, expectedlen or length, chunklen, dflt)
            self._new_folder(rootdir, mode)
            kinds = [(_dtype.to_text(array.dtype), list(array.shape[1:])) for array in arrays]
            writer = _native.BcolzWriter.create_table(
                self._path,
                [(name, *kind) for name, kind in zip(given, kinds, strict=True)],
                options,
            )
            writer.append(tuple(_memory(array) for array in arrays))
            writer.close()
        self._reopen()

    @staticmethod
    def fromdataframe(df: Any, **options: Any) -> ctable:
        """A table of the columns of a data frame of pandas, without its index."""
        arrays = [_plain_column(df[name].to_numpy()) for name in df.columns]
        return ctable(arrays, [str(name) for name in df.columns], **options)

    def _reopen(self) -> None:
        found = _open(self._path)
        if not isinstance(found, Table):
            raise ValueError(f"{self._path} is no table of bcolz")
        self._data = found

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
    def shape(self) -> tuple[int, ...]:
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
            return self._column(key) if key in self.names else self._of_text(key)
        if isinstance(key, carray):
            key = key[:]
        wanted = np.arange(len(self))[key]
        rows = np.empty(wanted.shape, dtype=self.dtype)
        for name in self.names:
            rows[name] = self._data[name][key]
        return rows[()] if rows.ndim == 0 else rows

    def _column(self, name: str) -> carray:
        column = carray(rootdir=os.path.join(self._path, name), mode="r")
        column.mode = "a" if self.mode == "w" else self.mode
        # A temporary folder lives as long as its columns.
        column._is_temporary, column._table = self._is_temporary, self
        return column

    def _of_text(self, key: str) -> Any:
        """The rows that fulfil a condition; a plain word is a column that is not there."""
        if key.isidentifier():
            raise KeyError(key)
        return self.fetchwhere(key)

    def __iter__(self) -> Iterator[Any]:
        return self.iter()

    def iter(
        self,
        start: int = 0,
        stop: int | None = None,
        step: int = 1,
        outcols: Sequence[str] | None = None,
        limit: int | None = None,
        skip: int = 0,
    ) -> Iterator[Any]:
        """The rows, one after the other, as named tuples."""
        rows = range(*_forward(start, stop, step).indices(len(self)))[skip : _end(skip, limit)]
        size = _BLOCK // step + 1
        blocks = (rows[at : at + size] for at in range(0, len(rows), size))
        return self._tuples(blocks, list(outcols or self.names))

    def where(
        self,
        expression: Any,
        outcols: Sequence[str] | None = None,
        limit: int | None = None,
        skip: int = 0,
    ) -> Iterator[Any]:
        """The rows that fulfil a condition, as named tuples."""
        rows = self._rows(expression, limit, skip)
        blocks = (rows[at : at + _BLOCK] for at in range(0, len(rows), _BLOCK))
        return self._tuples(blocks, list(outcols or self.names))

    def _tuples(self, blocks: Iterable[Any], names: list[str]) -> Iterator[Any]:
        row = namedtuple("row", names, rename=True)  # type: ignore[misc]
        for block in blocks:
            key = slice(block.start, block.stop, block.step) if isinstance(block, range) else block
            columns = [self._data[name][key] for name in names]
            for items in zip(*columns, strict=True):
                yield row(*items)

    def fetchwhere(
        self,
        expression: Any,
        outcols: Sequence[str] | None = None,
        limit: int | None = None,
        skip: int = 0,
    ) -> Any:
        """The rows that fulfil a condition, as an array of records."""
        return self._of_rows(self._rows(expression, limit, skip), list(outcols or self.names))

    def whereblocks(
        self,
        expression: Any,
        blen: int | None = None,
        outcols: Sequence[str] | None = None,
        limit: int | None = None,
        skip: int = 0,
    ) -> Iterator[Any]:
        """The same, block by block."""
        rows, size = self._rows(expression, limit, skip), blen or _BLOCK
        for at in range(0, len(rows), size):
            yield self._of_rows(rows[at : at + size], list(outcols or self.names))

    def _rows(self, expression: Any, limit: int | None, skip: int) -> npt.NDArray[np.int64]:
        if isinstance(expression, str):
            rows = self._data.rows_where(expression)
        else:
            mask = expression[:] if isinstance(expression, carray) else np.asarray(expression)
            rows = cast("npt.NDArray[np.int64]", np.flatnonzero(mask))
        return rows[skip : _end(skip, limit)]

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
        """Adds rows: a sequence of columns, an array of records, or one row."""
        if isinstance(cols, ctable):
            cols = [cols[name] for name in self.names]
        elif isinstance(cols, np.ndarray | np.void) and cols.dtype.names:
            cols = [cols[name] for name in self.names]
        dtype = self.dtype
        arrays = []
        for name, column in zip(self.names, cols, strict=True):
            kind, row_shape = _field(dtype, name)
            arrays.append(np.asarray(column, dtype=kind).reshape(-1, *row_shape))
        if len({len(array) for array in arrays}) > 1:
            raise ValueError("all columns must have the same length")
        self._write(lambda writer: writer.append(tuple(_memory(array) for array in arrays)))

    def __repr__(self) -> str:
        return f"ctable({self.shape}, {self.names}, rootdir={self.rootdir!r})"


def _columns(columns: Any, names: Sequence[str] | None) -> tuple[list[str], list[Any]]:
    """Names and arrays: of a sequence of columns, or of an array of records."""
    if isinstance(columns, np.ndarray) and columns.dtype.names:
        return list(names or columns.dtype.names), [columns[name] for name in columns.dtype.names]
    arrays = [np.asarray(column) for column in columns]
    if len({len(array) for array in arrays}) > 1:
        raise ValueError("all columns must have the same length")
    return list(names or [f"f{at}" for at in range(len(arrays))]), arrays


def _plain_column(items: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Text of data frames has a width here."""
    if items.dtype.kind in "OT" and all(isinstance(item, str) for item in items):
        return items.astype(str)
    return items


def _forward(start: int, stop: int | None, step: int) -> slice:
    if step < 1:
        raise ValueError("step must be at least 1")
    return slice(start, stop, step)


def _end(skip: int, limit: int | None) -> int | None:
    return None if limit is None else skip + limit


def _field(dtype: np.dtype[Any], name: str) -> tuple[np.dtype[Any], tuple[int, ...]]:
    inner = dtype[name]
    return inner.subdtype if inner.subdtype is not None else (inner, ())


def _memory(items: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    return _dtype.as_bytes(np.ascontiguousarray(items))


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


__all__ = ["carray", "cparams", "ctable", "open", "walk"]
