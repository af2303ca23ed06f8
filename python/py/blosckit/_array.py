"""Arrays with NumPy's indexes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from blosckit import _dtype, _index, _native
from blosckit._base import Opened, Reopen, ratio
from blosckit._index import Basic, Box, Outer, Plan, Points
from blosckit._threads import threads as threads_of
from blosckit.errors import LimitError, UnsupportedError

AnyArray = npt.NDArray[Any]


class Array(Opened[_native.Array]):
    """An array in a file. Reading decodes only the blocks that hold the part.

    Several threads may read one object; child processes may too, however they were started.
    """

    _kind = "array"

    def __init__(
        self, handle: _native.Array, reopen: Reopen | None, fields: tuple[str | list[str], ...] = ()
    ) -> None:
        super().__init__(handle, reopen)
        self._record = _dtype.from_text(handle.dtype)
        self._fields = fields
        self._dtype = self._record
        # Dimensions of the field itself, which come after those of the array.
        self._inner: tuple[int, ...] = ()
        for field in fields:
            self._dtype = self._dtype[field]
            if self._dtype.subdtype is not None:
                self._dtype, inner = self._dtype.subdtype
                self._inner += inner
        self._shape: tuple[int, ...] = handle.shape + self._inner

    @property
    def shape(self) -> tuple[int, ...]:
        """Items per dimension."""
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the items."""
        return self._dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """Number of items."""
        return self._handle.nbytes // max(self._record.itemsize, 1) * math.prod(self._inner)

    @property
    def nbytes(self) -> int:
        """Bytes of the items."""
        return self.size * self._dtype.itemsize

    @property
    def cbytes(self) -> int | None:
        """Bytes that the array takes where it is stored, if that is known."""
        return self._handle.cbytes

    @property
    def cratio(self) -> float | None:
        """Bytes of data for each stored byte."""
        return ratio(self._handle.nbytes, self.cbytes)

    @property
    def chunks(self) -> tuple[int, ...] | None:
        """Items per dimension of a chunk; `None` for an array without chunks."""
        chunks = self._handle.chunks
        return chunks + self._inner if chunks else None

    @property
    def blocks(self) -> tuple[int, ...] | None:
        """Items per dimension of a block, the part of a chunk that is decoded alone."""
        blocks = self._handle.blocks
        return blocks + self._inner if blocks else None

    @property
    def cparams(self) -> str:
        """The filters and the codec, such as `shuffle, zstd`."""
        return self._handle.pipeline

    @property
    def meta(self) -> dict[str, bytes]:
        """The fixed metalayers of the frame, as they are stored."""
        return self._handle.layers(False)

    @property
    def vlmeta(self) -> dict[str, bytes]:
        """The variable metalayers of the frame, as they are stored."""
        return self._handle.layers(True)

    @property
    def nchunks(self) -> int:
        """Number of chunks."""
        return self._handle.nchunks

    def chunk(self, n: int) -> bytes:
        """A chunk as it is stored; `blosckit.decompress` decodes it."""
        return self._handle.chunk(n)

    def info(self) -> dict[str, Any]:
        """The properties, for people and programs."""
        return super().info() | {
            "shape": self.shape,
            "dtype": str(self.dtype),
            "chunks": self.chunks,
            "blocks": self.blocks,
            "compression": self.cparams,
            "nbytes": self.nbytes,
            "cbytes": self.cbytes,
            "ratio": self.cratio,
        }

    def _summary(self) -> str:
        return f"{self.shape} {self.dtype}, {self.format}"

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of unsized object")
        return self._shape[0]

    def __getitem__(self, key: Any) -> Any:
        if _are_fields(key):
            return self._of_fields(key)
        return self._take(key, None, self._handle)

    def _of_fields(self, key: str | list[str]) -> Array:
        if self._dtype.names is None:
            raise IndexError("only arrays of records have fields")
        names = [key] if isinstance(key, str) else key
        for name in names:
            if name not in self._dtype.names:
                raise ValueError(f"no field of name {name}")
        reopen = None if self._reopen is None else (_with_fields, (self._reopen, key))
        return Array(self._handle, reopen, (*self._fields, key))

    @property
    def oindex(self) -> OuterIndex:
        """Indexes in which each list is for its dimension alone, as `numpy.ix_` has it."""
        return OuterIndex(self)

    def read(
        self, key: Any = ..., *, out: AnyArray | None = None, threads: int | None = None
    ) -> Any:
        """A part as `array[key]`, in the memory of `out`, and with another number of threads.

        `out` has the shape and the type of the part.
        """
        handle = self._handle
        if threads is not None:
            handle = handle.with_threads(threads_of(threads))
        return self._take(key, out, handle)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> AnyArray:
        if copy is False:
            raise ValueError("an array in a file cannot be had without a copy")
        whole = self._take(..., None, self._handle)
        return np.asarray(whole, dtype=dtype)

    def __dlpack__(self, **options: Any) -> Any:
        """The whole array, for `torch.from_dlpack` and others: memory of its own."""
        return np.asarray(self).__dlpack__(**(options | {"copy": None}))

    def __dlpack_device__(self) -> tuple[int, int]:
        """The memory of the processor."""
        return 1, 0

    def __iter__(self) -> Iterator[Any]:
        if not self._shape:
            raise TypeError("iteration over a 0-d array")
        step = (self.chunks or (1024,))[0] or 1
        for start in range(0, self._shape[0], step):
            yield from self[start : start + step]

    def iter_chunks(self) -> Iterator[tuple[tuple[slice, ...], AnyArray]]:
        """The parts that lie in a chunk each: a tuple of slices, and the items."""
        edges = self.chunks or self._shape
        ranges = [range(0, n, max(edge, 1)) for n, edge in zip(self._shape, edges, strict=True)]
        for corner in itertools.product(*ranges):
            key = tuple(
                slice(start, min(start + edge, n))
                for start, edge, n in zip(corner, edges, self._shape, strict=True)
            )
            yield key, np.asarray(self[key])

    def _take(
        self, key: Any, out: AnyArray | None, handle: _native.Array, is_outer: bool = False
    ) -> Any:
        if self._record.hasobject:
            raise UnsupportedError(f"{self.path}: items of type {self._record} are Python objects")
        plan = (_index.outer if is_outer else _index.plan)(key, self._shape)
        if not self._fields:
            return self._read(plan, out, handle)
        if not self._inner:
            return _into(self._picked(self._read(plan, None, handle)), out)
        lens = handle.shape
        if isinstance(plan, Basic):
            # The picks of the array come first, then a part of the fields.
            lead, rest = plan.picks[: len(lens)], plan.picks[len(lens) :]
            # A number keeps its dimension until the second step.
            whole = tuple(
                slice(pick % n, pick % n + 1) if isinstance(pick, int) else pick
                for pick, n in zip(lead, lens, strict=True)
            )
            found = self._picked(self._read(_index.plan(whole, lens), None, handle))
            kept = tuple(0 if isinstance(pick, int) else slice(None) for pick in lead)
            found = np.reshape(found[kept + rest], plan.shape)
            found = found[()] if plan.is_scalar and out is None else found
        else:
            found = self._picked(self._read(_index.plan(..., lens), None, handle))
            if is_outer and isinstance(plan, Outer):
                found = found[np.ix_(*plan.lists)].reshape(plan.shape)
            else:
                found = found[key]
        return _into(found, out)

    def _picked(self, records: Any) -> Any:
        for field in self._fields:
            records = records[field]
        return records

    def _read(self, plan: Plan, out: AnyArray | None, handle: _native.Array) -> Any:
        if isinstance(plan, Box):
            if plan.outer is not None:
                return self._read(plan.outer, out, handle)
            box = self._new(tuple(pick.stop - pick.start for pick in plan.picks))
            handle.read(plan.picks, _dtype.as_bytes(box))
            return _into(box[plan.inner], out)
        array = self._new(plan.shape) if out is None else self._checked(out, plan.shape)
        if array.nbytes:
            memory = _dtype.as_bytes(array)
            if isinstance(plan, Basic):
                handle.read(plan.picks, memory)
            elif isinstance(plan, Points):
                handle.gather(plan.items, memory)
            else:
                handle.read_outer(plan.lists, memory)
        is_scalar = isinstance(plan, Basic | Outer) and plan.is_scalar
        return array[()] if is_scalar and out is None else array

    def _new(self, shape: tuple[int, ...]) -> AnyArray:
        try:
            return np.zeros(shape, dtype=self._record)
        except (MemoryError, ValueError) as error:
            raise LimitError(f"{self.path}: no memory for {shape} items") from error

    def _checked(self, out: AnyArray, shape: tuple[int, ...]) -> AnyArray:
        if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != self._record:
            raise ValueError(f"`out` must be an array of shape {shape} and type {self._record}")
        if not out.flags.c_contiguous or not out.flags.writeable:
            raise ValueError("`out` must be writable and C-contiguous")
        return out


class OuterIndex:
    """`array.oindex[...]`."""

    def __init__(self, array: Array) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> Any:
        array = self._array
        return array._take(key, None, array._handle, True)


def _are_fields(key: Any) -> bool:
    if isinstance(key, str):
        return True
    return isinstance(key, list) and bool(key) and all(isinstance(name, str) for name in key)


def _with_fields(reopen: Reopen, fields: str | list[str]) -> Array:
    function, arguments = reopen
    return cast(Array, function(*arguments)[fields])


def _into(found: Any, out: AnyArray | None) -> Any:
    if out is None:
        return found
    if out.shape != np.shape(found) or out.dtype != found.dtype:
        raise ValueError(f"`out` must be an array of shape {np.shape(found)} and {found.dtype}")
    out[...] = found
    return out
