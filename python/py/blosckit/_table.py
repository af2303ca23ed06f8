"""Tables: columns for NumPy, streams of Arrow for all others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from blosckit import _dtype, _index, _native
from blosckit._base import Opened, Reopen, ratio

AnyArray = npt.NDArray[Any]

#: Rows of a batch of Arrow, unless another number is given.
BATCH_ROWS = 1 << 16


@dataclass(frozen=True)
class Field:
    """The description of a column."""

    name: str
    kind: str
    dtype: np.dtype[Any] | None
    item_shape: tuple[int, ...]
    nullable: bool


class Table(Opened[_native.Table]):
    """Columns of one length. Only what is asked for is read."""

    _kind = "table"

    def __init__(self, handle: _native.Table, reopen: Reopen | None) -> None:
        super().__init__(handle, reopen)
        self._schema = {
            name: Field(name, kind, _dtype.from_text(dtype) if dtype else None, shape, nullable)
            for name, kind, dtype, shape, nullable in handle.columns()
        }

    @property
    def columns(self) -> list[str]:
        """The names of the columns in their order."""
        return list(self._schema)

    @property
    def schema(self) -> list[Field]:
        """The descriptions of the columns."""
        return list(self._schema.values())

    @property
    def nbytes(self) -> int:
        """Bytes of the values."""
        return self._handle.sizes[0]

    @property
    def cbytes(self) -> int:
        """Bytes that the table takes where it is stored."""
        return self._handle.sizes[1]

    @property
    def cratio(self) -> float | None:
        """Bytes of values for each stored byte."""
        return ratio(self.nbytes, self.cbytes)

    def info(self) -> dict[str, Any]:
        """The properties, for people and programs."""
        columns = ", ".join(f"{field.name}: {field.dtype or field.kind}" for field in self.schema)
        return super().info() | {
            "rows": len(self),
            "columns": columns,
            "nbytes": self.nbytes,
            "cbytes": self.cbytes,
            "ratio": self.cratio,
        }

    def _summary(self) -> str:
        return f"{len(self)} rows of {len(self._schema)} columns, {self.format}"

    def __len__(self) -> int:
        return self._handle.nrows

    def __iter__(self) -> Iterator[str]:
        return iter(self._schema)

    def __contains__(self, name: object) -> bool:
        return name in self._schema

    def __getitem__(self, name: str) -> Column:
        return Column(self, self._schema[name])

    def rows_where(self, where: str, rows: slice | None = None) -> npt.NDArray[np.int64]:
        """The numbers of the rows that fulfil a condition, such as `price > 10 and day < 5`."""
        start, stop = _range(rows, len(self))
        return np.frombuffer(self._handle.matches(where, start, stop), dtype=np.int64)

    def scan(
        self,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        rows: slice | None = None,
        batch_rows: int = BATCH_ROWS,
    ) -> Scan:
        """Some rows and columns as a stream of Arrow: for Polars, pandas, DuckDB, PyArrow."""
        for name in columns or ():
            if name not in self._schema:
                raise KeyError(name)
        return Scan(self, list(columns or self._schema), where, rows, batch_rows)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.scan().__arrow_c_stream__(requested_schema)


class Column:
    """A column of a table."""

    def __init__(self, table: Table, field: Field) -> None:
        self._table = table
        self.field = field

    @property
    def name(self) -> str:
        """The name."""
        return self.field.name

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The type of an item; `None` where values have no fixed width."""
        return self.field.dtype

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        return f"<blosckit.Column {self.name!r}, {self.field.dtype or self.field.kind}>"

    def __getitem__(self, key: Any) -> Any:
        return self._take(key, masked=False)

    def read(self, key: Any = slice(None), *, masked: bool = False) -> Any:
        """Some rows; with `masked` an array of `numpy.ma` in which nulls are masked.

        Otherwise nulls are `None` among text and objects, not a number among floats, not a time
        among dates, and whatever is stored among others.
        """
        return self._take(key, masked=masked)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> AnyArray:
        if copy is False:
            raise ValueError("a column in a file cannot be had without a copy")
        return np.asarray(self[:], dtype=dtype)

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, len(self), BATCH_ROWS):
            yield from self[start : start + BATCH_ROWS]

    def _take(self, key: Any, *, masked: bool) -> Any:
        count = len(self)
        if isinstance(key, slice) and key.step in (None, 1):
            start, stop, _ = key.indices(count)
            return self._rows(start, max(start, stop), masked)
        plan = _index.plan(key, (count,))
        if isinstance(plan, _index.Basic) and plan.is_scalar:
            at = _position(plan.picks[0]) % count
            return self._rows(at, at + 1, masked)[0]
        wanted = np.arange(count)[key]
        if wanted.size == 0:
            return self._rows(0, 0, masked)
        start = int(wanted.min())
        return self._rows(start, int(wanted.max()) + 1, masked)[wanted - start]

    def _rows(self, start: int, stop: int, masked: bool) -> Any:
        read = self._table._handle.read(self.name, start, stop)
        nulls = read.get("nulls")
        mask = None if nulls is None else np.frombuffer(nulls, dtype=bool)
        if "data" in read:
            dtype = _dtype.from_text(read["dtype"])
            if self.field.dtype is not None and self.field.dtype.kind == "M":
                dtype = self.field.dtype
            shape = (stop - start, *read["item_shape"])
            values: AnyArray = np.frombuffer(read["data"], dtype=dtype).reshape(shape)
            if mask is not None and not masked:
                _blank(values, mask)
        elif "texts" in read:
            values = np.array(read["texts"], dtype=object)
        else:
            values = _of_objects(read.get("objects", []))
        if not masked:
            return values
        hidden = np.zeros(len(values), dtype=bool) if mask is None else mask
        full = np.broadcast_to(hidden.reshape(-1, *(1,) * (values.ndim - 1)), values.shape)
        return np.ma.MaskedArray(values, mask=full)


def _position(pick: int | slice) -> int:
    if isinstance(pick, slice):
        raise TypeError("a slice is no position")
    return pick


def _blank(values: AnyArray, mask: npt.NDArray[np.bool_]) -> None:
    """Where the type has a value that stands for none, nulls are that."""
    if values.dtype.kind in "fc":
        values[mask] = np.nan
    elif values.dtype.kind in "mM":
        values[mask] = np.array("NaT", dtype=values.dtype)


def _of_objects(items: list[Any]) -> AnyArray:
    array = np.empty(len(items), dtype=object)
    for at, item in enumerate(items):
        array[at] = item
    return array


class Scan:
    """Some rows and columns of a table; each stream that is taken of it begins anew."""

    def __init__(
        self,
        table: Table,
        columns: list[str],
        where: str | None,
        rows: slice | None,
        batch_rows: int,
    ) -> None:
        if batch_rows < 1:
            raise ValueError("batch_rows must be at least 1")
        self._table = table
        self.columns = columns
        self.where = where
        self.rows = _range(rows, len(table))
        self.batch_rows = batch_rows

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        start, stop = self.rows
        return self._table._handle.stream(
            self.columns, self.where, start, stop, self.batch_rows
        )

    def __repr__(self) -> str:
        where = f" where {self.where}" if self.where else ""
        return f"<blosckit.Scan of {self._table.path!r}: {', '.join(self.columns)}{where}>"


def _range(rows: slice | None, count: int) -> tuple[int, int]:
    if rows is None:
        return 0, count
    start, stop, step = rows.indices(count)
    if step != 1:
        raise ValueError("rows are a range without a step")
    return start, max(start, stop)
