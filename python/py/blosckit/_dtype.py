"""NumPy's types as texts, and back."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import numpy.typing as npt

from blosckit.errors import UnsupportedError


def from_text(text: str) -> np.dtype[Any]:
    """The type that a file names."""
    try:
        descr = ast.literal_eval(text) if text[:1] in "[{('" else text
        kind: np.dtype[Any] = np.dtype(descr)
    except (TypeError, ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise UnsupportedError(f"the type {text[:100]!r} is none of NumPy") from error
    return kind


def to_text(dtype: npt.DTypeLike) -> str:
    """The text that a file gets."""
    kind = np.dtype(dtype)
    if kind.hasobject:
        raise TypeError("arrays of Python objects are not written")
    descr = np.lib.format.dtype_to_descr(kind)
    return descr if isinstance(descr, str) else repr(descr)


def as_bytes(array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """The memory of a C-contiguous array; dates have no buffer of their own."""
    if array.nbytes == 0:
        return np.empty(0, dtype=np.uint8)
    return array.reshape(-1).view(np.uint8)
