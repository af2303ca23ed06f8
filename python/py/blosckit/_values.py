"""Values of stores as objects of Python; called by the extension module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Reference:
    """A reference to something elsewhere. This note is shown, never followed."""

    description: Any


@dataclass(frozen=True)
class Extension:
    """An extension of MessagePack that is not known."""

    code: int
    data: bytes


def _hashable(item: Any) -> Any:
    if isinstance(item, list):
        return tuple(_hashable(part) for part in item)
    if isinstance(item, set):
        return frozenset(item)
    if isinstance(item, dict):
        return tuple((key, _hashable(value)) for key, value in item.items())
    return item


def set_of(items: list[Any]) -> set[Any]:
    """A set; lists in it are tuples."""
    return {_hashable(item) for item in items}


def dict_of(keys: list[Any], values: list[Any]) -> dict[Any, Any]:
    """A dictionary; keys that are lists are tuples."""
    return {_hashable(key): value for key, value in zip(keys, values, strict=True)}


def ndarray_of(dtype: Any, shape: tuple[int, ...], data: bytearray) -> npt.NDArray[Any]:
    """An array of plain items."""
    kind: np.dtype[Any] = np.dtype(_descr(dtype))
    if kind.hasobject:
        raise ValueError("an array of objects has no bytes")
    return np.frombuffer(data, dtype=kind).reshape(shape)


def _descr(dtype: Any) -> Any:
    """The form that `numpy.dtype` takes: names of types as they are, fields as tuples."""
    if isinstance(dtype, dict):
        return _descr(dtype["descr"] if "descr" in dtype else dtype["str"])
    if isinstance(dtype, list):
        return [(name, _descr(inner), *map(tuple, shape)) for name, inner, *shape in dtype]
    return dtype


def object_array_of(shape: tuple[int, ...], items: list[Any]) -> npt.NDArray[Any]:
    """An array of objects."""
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array.reshape(shape)
