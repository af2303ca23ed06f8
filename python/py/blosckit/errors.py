"""The exceptions of blosckit, by who has to act."""

from __future__ import annotations

from typing import TypedDict

__all__ = [
    "BloscError",
    "BusyError",
    "CorruptError",
    "LimitError",
    "ParamError",
    "StorageError",
    "UnsupportedError",
]


class _Details(TypedDict, total=False):
    path: str | None
    chunk: int | None
    block: int | None
    offset: int | None
    errno: int | None


class BloscError(Exception):
    """Anything that goes wrong with data of the Blosc family."""

    #: The file or object, the number of the chunk and of the block, and the position in bytes,
    #: each as far as it is known.
    path: str | None = None
    chunk: int | None = None
    block: int | None = None
    offset: int | None = None


class CorruptError(BloscError, ValueError, RuntimeError):
    """The data are damaged, or of no format that is known: for their maker."""


class UnsupportedError(BloscError, NotImplementedError):
    """The data are of a kind that is not read here."""


class LimitError(BloscError, ValueError):
    """The data need more memory than the limit: for the one who set it."""


class ParamError(BloscError, ValueError):
    """An argument that does not fit: for the caller."""


class BusyError(BloscError):
    """Another thread or program is at work on the same object."""


class StorageError(BloscError, OSError):
    """The system refuses to read or to write."""


def make(name: str, text: str, details: _Details) -> BloscError:
    """The exception of a class with its details; for the extension module."""
    kind: type[BloscError] = globals()[name]
    error = kind(text)
    error.path = details.get("path")
    error.chunk = details.get("chunk")
    error.block = details.get("block")
    error.offset = details.get("offset")
    if isinstance(error, OSError):
        error.errno = details.get("errno")
    return error
