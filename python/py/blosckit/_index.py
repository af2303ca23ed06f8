"""The meaning of an index of NumPy: the only place that knows its rules.

An index becomes one of four plans, each of which is one call of the extension module:

==========  ===================================================================
`Basic`     integers, slices, `...` and `None`: a part in C order
`Points`    single items by their numbers: a mask of all, lists of all dimensions
`Outer`     all combinations of positions of each dimension
`Box`       the box around all positions; NumPy takes the rest out of it
==========  ===================================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Numbers: TypeAlias = npt.NDArray[np.uint64]
Shape: TypeAlias = tuple[int, ...]

#: A box is read for positions that are at least this part of it.
_SPARSE = 8


@dataclass(frozen=True)
class Basic:
    """A number or a slice of each dimension."""

    picks: tuple[int | slice, ...]
    shape: Shape
    is_scalar: bool


@dataclass(frozen=True)
class Points:
    """Items by their numbers in C order."""

    items: Numbers
    shape: Shape


@dataclass(frozen=True)
class Outer:
    """Positions of each dimension; `shape` is that of the result."""

    lists: tuple[Numbers, ...]
    shape: Shape
    is_scalar: bool = False


@dataclass(frozen=True)
class Box:
    """A box, and NumPy's index on it."""

    picks: tuple[slice, ...]
    inner: tuple[Any, ...]
    #: The same by positions, where most of the box is not wanted.
    outer: Outer | None = None


Plan: TypeAlias = Basic | Points | Outer | Box


def plan(key: Any, shape: Shape) -> Plan:
    """The plan of `array[key]` for an array of a shape.

    Raises what NumPy raises for the same index: mostly `IndexError`.
    """
    items = [_as_index(item) for item in (key if isinstance(key, tuple) else (key,))]
    if not any(isinstance(item, np.ndarray) for item in items):
        return _basic(tuple(items), shape)
    if any(isinstance(item, np.ndarray) and item.ndim == 0 for item in items):
        # A truth value adds a dimension: NumPy does that on all of the array.
        return Box(tuple(slice(0, n) for n in shape), tuple(items))
    if len(items) == 1 and items[0].dtype == bool and items[0].shape == shape:
        found = np.flatnonzero(items[0]).astype(np.uint64)
        return Points(found, (len(found),))
    return _advanced(_expanded(items, shape), shape)


def _as_index(item: Any) -> Any:
    """Lists are arrays, and so are truth values; numbers are numbers of Python."""
    if item is None or item is Ellipsis or isinstance(item, slice):
        return item
    if isinstance(item, bool | np.bool_):
        return np.asarray(item, dtype=bool)
    if isinstance(item, np.ndarray | list | tuple) or hasattr(item, "__array__"):
        array = np.asarray(item)
        if array.size == 0 and not isinstance(item, np.ndarray):
            array = array.astype(np.intp)
        if array.dtype.kind not in "iub":
            raise IndexError("arrays used as indices must be of integer (or boolean) type")
        if array.ndim == 0 and array.dtype.kind in "iu":
            return int(array)
        return array
    if hasattr(item, "__index__"):
        return item.__index__()
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and integer or boolean arrays "
        "are valid indices"
    )


def _basic(items: tuple[Any, ...], shape: Shape) -> Basic:
    # An array of the shape without memory knows the shape of the result, and all errors.
    found = np.broadcast_to(np.False_, shape)[items]
    picks = [item for item in _with_all_dims(list(items), len(shape)) if item is not None]
    return Basic(tuple(picks), np.shape(found), not isinstance(found, np.ndarray))


def _with_all_dims(items: list[Any], ndim: int) -> list[Any]:
    """Without `...`, and with a slice for each dimension that is not named."""
    used = sum(
        item.ndim if isinstance(item, np.ndarray) and item.dtype == bool else 1
        for item in items
        if item is not None and item is not Ellipsis
    )
    if used > ndim:
        raise IndexError(
            f"too many indices for array: array is {ndim}-dimensional, but {used} were indexed"
        )
    places = [at for at, item in enumerate(items) if item is Ellipsis]
    if len(places) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    at = places[0] if places else len(items)
    return items[:at] + [slice(None)] * (ndim - used) + items[at + len(places) :]


def _expanded(items: list[Any], shape: Shape) -> list[Any]:
    """Masks are lists of positions; all positions are at least 0 and within the shape."""
    expanded: list[Any] = []
    dim = 0
    for item in _with_all_dims(items, len(shape)):
        if isinstance(item, np.ndarray) and item.dtype == bool:
            for axis, (found, n) in enumerate(zip(item.shape, shape[dim:], strict=False)):
                if found != n:
                    raise IndexError(
                        f"boolean index did not match indexed array along axis {dim + axis}; "
                        f"size of axis is {n} but size of corresponding boolean axis is {found}"
                    )
            expanded.extend(item.nonzero())
            dim += item.ndim
        elif item is None:
            expanded.append(None)
        else:
            expanded.append(item if isinstance(item, slice) else _within(item, shape[dim], dim))
            dim += 1
    return expanded


def _within(item: Any, n: int, dim: int) -> Any:
    """A position or several, counted from the start."""
    positions = np.asarray(item, dtype=np.int64)
    bad = (positions < -n) | (positions >= n)
    if bad.any():
        first = int(positions[bad].flat[0])
        raise IndexError(f"index {first} is out of bounds for axis {dim} with size {n}")
    wrapped = np.where(positions < 0, positions + n, positions)
    return wrapped if isinstance(item, np.ndarray) else int(wrapped)


def _advanced(items: list[Any], shape: Shape) -> Plan:
    dims = [item for item in items if item is not None]
    arrays = [item for item in dims if isinstance(item, np.ndarray)]
    try:
        common = np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError as error:
        shapes = " ".join(str(array.shape) for array in arrays)
        raise IndexError(
            "shape mismatch: indexing arrays could not be broadcast together with shapes "
            f"{shapes}"
        ) from error
    if len(dims) == len(items) and not any(isinstance(item, slice) for item in dims):
        lists = np.broadcast_arrays(*dims)
        found = np.ravel_multi_index(tuple(lists), shape) if math.prod(common) else np.empty(0)
        return Points(np.ascontiguousarray(found, dtype=np.uint64).reshape(-1), common)
    boxes = [_around(item, n) for item, n in zip(dims, shape, strict=True)]
    inner = iter(within for _, within in boxes)
    picks = tuple(pick for pick, _ in boxes)
    key = tuple(None if item is None else next(inner) for item in items)
    return Box(picks, key, _as_outer(items, picks, shape))


def _around(item: Any, n: int) -> tuple[slice, Any]:
    """The positions around an index of a dimension, and the index within them."""
    if isinstance(item, int):
        return slice(item, item + 1), 0
    if isinstance(item, slice):
        positions = range(n)[item]
        if not positions:
            return slice(0, 0), slice(0, 0)
        first, last = sorted((positions[0], positions[-1]))
        return slice(first, last + 1), slice(None, None, positions.step)
    if item.size == 0:
        return slice(0, min(n, 1)), item
    first = int(item.min())
    return slice(first, int(item.max()) + 1), item - first


def _as_outer(items: list[Any], picks: tuple[slice, ...], shape: Shape) -> Outer | None:
    """One list and slices otherwise: by positions, if the box is much larger than that."""
    arrays = [item for item in items if isinstance(item, np.ndarray)]
    others = [item for item in items if not isinstance(item, np.ndarray)]
    if len(arrays) != 1 or arrays[0].ndim != 1:
        return None
    if not all(isinstance(item, slice) for item in others):
        return None
    lens = [
        len(range(n)[item]) if isinstance(item, slice) else len(item)
        for item, n in zip(items, shape, strict=True)
    ]
    in_box = math.prod(pick.stop - pick.start for pick in picks)
    if in_box <= _SPARSE * math.prod(lens):
        return None
    lists = tuple(_positions(item, n) for item, n in zip(items, shape, strict=True))
    return Outer(lists, tuple(lens))


def _positions(item: Any, n: int) -> Numbers:
    if isinstance(item, slice):
        found = range(n)[item]
        return np.arange(found.start, found.stop, found.step).astype(np.uint64)
    return np.ascontiguousarray(item, dtype=np.uint64)


def outer(key: Any, shape: Shape) -> Plan:
    """The plan of `array.oindex[key]`: each list and each mask is for its dimension alone."""
    items = [_as_index(item) for item in (key if isinstance(key, tuple) else (key,))]
    if not any(isinstance(item, np.ndarray) for item in items):
        return _basic(tuple(items), shape)
    for item in items:
        if isinstance(item, np.ndarray) and item.ndim != 1:
            raise IndexError("an orthogonal index is a list or a mask of one dimension")
    if any(item is None for item in items):
        raise IndexError("an orthogonal index adds no dimension")
    dims = _expanded(items, shape)
    kept = [not isinstance(item, int) for item in dims]
    lists = tuple(
        _positions(np.asarray([item]) if isinstance(item, int) else item, n)
        for item, n in zip(dims, shape, strict=True)
    )
    lens = tuple(len(found) for found, keep in zip(lists, kept, strict=True) if keep)
    return Outer(lists, lens)
