"""Threads that calls share, as a value."""

from __future__ import annotations

from blosckit._native import Threads

#: One for each processor that the process may use; none is started before the first need.
DEFAULT = Threads(None)


def threads(n: int | None) -> Threads:
    """The threads for an argument: `None` are those that all objects share."""
    if n is None:
        return DEFAULT
    if n < 1:
        raise ValueError("threads must be at least 1")
    return Threads(n)
