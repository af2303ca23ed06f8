"""The parts of all opened objects: a name, an end, a way to be sent to another process."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

Handle = TypeVar("Handle")
Reopen = tuple[Callable[..., Any], tuple[Any, ...]]


class Opened(Generic[Handle]):
    """An object with a handle of the extension module, until it is closed."""

    _kind = "object"

    def __init__(self, handle: Handle, reopen: Reopen | None) -> None:
        self._open_handle: Handle | None = handle
        self._reopen = reopen

    @property
    def _handle(self) -> Handle:
        # Reads that are under way keep their own reference.
        handle = self._open_handle
        if handle is None:
            raise ValueError("I/O operation on a closed object")
        return handle

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._open_handle is None

    def close(self) -> None:
        """Lets go of the file. Later calls raise `ValueError`."""
        self._open_handle = None

    def __enter__(self) -> Self:
        self._handle  # noqa: B018
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> Reopen:
        if self._reopen is None:
            raise TypeError(f"this {type(self).__name__} cannot be pickled: it has no path")
        return self._reopen

    def __dask_tokenize__(self) -> object:
        """What stands for the content: a file that was changed since is another one."""
        from dask.base import normalize_token

        if self._reopen is None:
            return os.urandom(16)
        return normalize_token((type(self).__name__, self._reopen, _stamp(self._reopen)))

    @property
    def path(self) -> str:
        """The name by which it was opened."""
        name: str = self._handle.name  # type: ignore[attr-defined]
        return name

    @property
    def format(self) -> str:
        """The format: `b2nd`, `blp`, `carray`, ..."""
        name: str = self._handle.format  # type: ignore[attr-defined]
        return name

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes, a copy; those of groups and tables as far as JSON can say them."""
        text: str = self._handle.attributes()  # type: ignore[attr-defined]
        found: dict[str, Any] = json.loads(text)
        values: dict[str, Any] = getattr(self._handle, "values", dict)()
        return {name: values.get(name, item) for name, item in found.items()}

    def info(self) -> dict[str, Any]:
        """The properties, for people and programs."""
        return {"path": self.path, "format": self.format, "kind": self._kind}

    def __repr__(self) -> str:
        if self.closed:
            return f"<blosckit.{type(self).__name__}, closed>"
        shown = self._summary()
        return f"<blosckit.{type(self).__name__} {self.path!r}, {shown}>"

    def _summary(self) -> str:
        return self.format

    def _repr_html_(self) -> str:
        # Only notebooks need it, and `import blosckit` is to be quick.
        import html

        rows = {} if self.closed else self.info()
        cells = "".join(
            f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>"
            for name, value in rows.items()
        )
        return f"<table><caption>{type(self).__name__}</caption>{cells}</table>"


def _stamp(reopen: Reopen) -> tuple[int, int] | None:
    """When the file was changed, and its size; `None` if it is no file of this machine."""
    first = reopen[1][0]
    if isinstance(first, tuple):
        return _stamp(first)
    if not isinstance(first, str):
        return None
    for name in (first, first.partition("::")[0], first.rpartition("@")[0]):
        try:
            found = os.stat(name)
        except OSError:
            continue
        return found.st_mtime_ns, found.st_size
    return None


def ratio(nbytes: int, cbytes: int | None) -> float | None:
    """Bytes of data for each stored byte."""
    return None if not cbytes else nbytes / cbytes
