"""The back end `blosckit` of xarray: `xarray.open_dataset(path, engine="blosckit")`.

An array is one variable, a store as many as it has arrays. The names of dimensions are those of
the attribute `dims` or `_ARRAY_DIMENSIONS`; without them `dim_0`, and in a store `NAME_dim_0`,
since arrays there have lengths of their own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from xarray import Dataset, Variable
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

import blosckit
from blosckit._group import Group


class _LazyArray(BackendArray):
    """An array that is read when its values are needed."""

    def __init__(self, array: blosckit.Array) -> None:
        self.shape = array.shape
        self.dtype = array.dtype
        self._array = array

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.OUTER, self._read
        )

    def _read(self, key: tuple[Any, ...]) -> Any:
        return np.asarray(self._array.oindex[key])


class BlosckitBackend(BackendEntrypoint):
    """Opens arrays and stores of the Blosc family."""

    description = "Arrays and stores of the Blosc family, by blosckit"
    open_dataset_parameters = ("filename_or_obj", "drop_variables", "threads")

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        threads: int | None = None,
    ) -> Dataset:
        """One variable for each array."""
        found = blosckit.open(filename_or_obj, threads=threads)
        dropped = {drop_variables} if isinstance(drop_variables, str) else set(drop_variables or ())
        arrays: dict[str, blosckit.Array] = {}
        attrs: Mapping[str, Any] = {}
        if isinstance(found, blosckit.Array):
            name = os.path.basename(str(found.path)).split(".")[0] or "array"
            arrays[name] = found
        elif isinstance(found, Group):
            attrs = found.attrs
            for key, item in found.items():
                if isinstance(item, blosckit.Array):
                    arrays[key.strip("/")] = item
        else:
            raise ValueError(f"{found!r} is no array and no store")
        is_store = isinstance(found, Group)
        variables = {
            name: _variable(array, f"{name}_" if is_store else "")
            for name, array in arrays.items()
            if name not in dropped
        }
        return Dataset(variables, attrs=attrs)

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Whether the content is an array or a store of the family."""
        try:
            with blosckit.open(filename_or_obj) as found:
                return isinstance(found, blosckit.Array | Group)
        except Exception:
            return False


def _variable(array: blosckit.Array, prefix: str) -> Variable:
    attrs = dict(array.attrs)
    named = [attrs.pop(name, None) for name in ("dims", "_ARRAY_DIMENSIONS")]
    dims = next((found for found in named if _fits(found, array.ndim)), None)
    names = dims or [f"{prefix}dim_{axis}" for axis in range(array.ndim)]
    data = indexing.LazilyIndexedArray(_LazyArray(array))
    encoding = {"preferred_chunks": dict(zip(names, array.chunks or (), strict=False))}
    return Variable(names, data, attrs, encoding)


def _fits(dims: Any, ndim: int) -> bool:
    return isinstance(dims, list | tuple) and len(dims) == ndim


__all__ = ["BlosckitBackend"]
