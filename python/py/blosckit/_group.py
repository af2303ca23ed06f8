"""Stores and other groups, as mappings."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Any, TypeAlias

from blosckit import _native
from blosckit._array import Array
from blosckit._base import Opened, Reopen
from blosckit._frame import Frame, Objects, Recipe
from blosckit._table import Table


class Group(Opened[_native.Group]):
    """Members with names: a store, a group in one, a sequence of frames.

    Keys of stores begin with `/`; a key without it is looked for with it.
    """

    _kind = "group"

    def __init__(self, handle: _native.Group, reopen: Reopen | None) -> None:
        super().__init__(handle, reopen)
        self._kinds: dict[str, str] | None = None

    @property
    def members(self) -> dict[str, str]:
        """Names, and whether each is a `value`, a `table` or a `group`."""
        if self._kinds is None:
            self._kinds = dict(self._handle.members())
        return dict(self._kinds)

    def keys(self) -> KeysView[str]:
        """The names of values and tables."""
        return _as_mapping(self).keys()

    def values(self) -> ValuesView[Data]:
        """The values and tables, opened."""
        return _as_mapping(self).values()

    def items(self) -> ItemsView[str, Data]:
        """Names with what is opened."""
        return _as_mapping(self).items()

    def groups(self) -> list[str]:
        """The names of the groups within."""
        return [name for name, kind in self.members.items() if kind == "group"]

    def __len__(self) -> int:
        return sum(kind != "group" for kind in self.members.values())

    def __iter__(self) -> Iterator[str]:
        return iter([name for name, kind in self.members.items() if kind != "group"])

    def __contains__(self, name: object) -> bool:
        known = self.members
        return name in known or (isinstance(name, str) and f"/{name}" in known)

    def __getitem__(self, name: str) -> Data:
        key = name if name in self.members or f"/{name}" not in self.members else f"/{name}"
        reopen = None if self._reopen is None else (_member, (self._reopen, key))
        return wrap(self._handle.open(key), reopen)

    def get(self, name: str, default: Any = None) -> Any:
        """A member, or else the default."""
        try:
            return self[name]
        except KeyError:
            return default

    def info(self) -> dict[str, Any]:
        """The properties, for people and programs."""
        return super().info() | {"members": ", ".join(self) or None}

    def _summary(self) -> str:
        return f"{len(self)} members, {self.format}"


class _View(Mapping[str, "Data"]):
    """The mapping that a group is, for the views of `collections.abc`."""

    def __init__(self, group: Group) -> None:
        self._group = group

    def __len__(self) -> int:
        return len(self._group)

    def __iter__(self) -> Iterator[str]:
        return iter(self._group)

    def __getitem__(self, name: str) -> Data:
        return self._group[name]


def _as_mapping(group: Group) -> Mapping[str, Data]:
    return _View(group)


Data: TypeAlias = Array | Table | Group | Frame | Objects | Recipe


def wrap(handle: object, reopen: Reopen | None) -> Data:
    """The object for a handle of the extension module."""
    if isinstance(handle, _native.Array):
        return Array(handle, reopen)
    if isinstance(handle, _native.Table):
        return Table(handle, reopen)
    if isinstance(handle, _native.Group):
        return Group(handle, reopen)
    if isinstance(handle, _native.Objects):
        return Objects(handle, reopen)
    if isinstance(handle, _native.Recipe):
        return Recipe(handle, reopen)
    if isinstance(handle, _native.Frame):
        return Frame(handle, reopen)
    raise TypeError(f"no data: {type(handle)}")


def _member(reopen: Reopen, key: str) -> Data:
    function, arguments = reopen
    group: Group = function(*arguments)
    return group[key]
