"""Frames, chunks and files of bytes; lists of objects; notes without data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blosckit import _native
from blosckit._base import Opened, ratio
from blosckit.errors import LimitError


class Frame(Opened[_native.Frame]):
    """Compressed bytes without a shape: a frame, a bare chunk, a Bloscpack file."""

    _kind = "bytes"

    @property
    def nbytes(self) -> int:
        """Bytes of data."""
        return self._handle.nbytes

    @property
    def cbytes(self) -> int:
        """Bytes that it takes where it is stored."""
        return self._handle.cbytes

    @property
    def cratio(self) -> float | None:
        """Bytes of data for each stored byte."""
        return ratio(self.nbytes, self.cbytes)

    @property
    def typesize(self) -> int:
        """Bytes of an item, as the codec was told."""
        return self._handle.typesize

    @property
    def nchunks(self) -> int:
        """Number of chunks."""
        return self._handle.nchunks

    @property
    def meta(self) -> dict[str, bytes]:
        """The fixed metalayers, as they are stored."""
        return self._handle.layers(False)

    @property
    def vlmeta(self) -> dict[str, bytes]:
        """The variable metalayers, as they are stored."""
        return self._handle.layers(True)

    def info(self) -> dict[str, Any]:
        """The properties, for people and programs."""
        return super().info() | {
            "nbytes": self.nbytes,
            "cbytes": self.cbytes,
            "ratio": self.cratio,
            "typesize": self.typesize,
            "nchunks": self.nchunks,
        }

    def _summary(self) -> str:
        return f"{self.nbytes} bytes, {self.format}"

    def __len__(self) -> int:
        """Number of items."""
        return self.nbytes // self.typesize

    def __getitem__(self, key: slice | int) -> bytes:
        """The bytes of an item, or of a range of items."""
        size = self.typesize
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step != 1:
                raise ValueError("items are a range without a step")
            return self.read(start * size, max(stop - start, 0) * size)
        if not -len(self) <= key < len(self):
            raise IndexError(f"index {key} is out of bounds for {len(self)} items")
        return self.read(key % len(self) * size, size)

    def read(self, start: int = 0, nbytes: int | None = None) -> bytes:
        """Bytes from a position on; all that follow without a number."""
        if start < 0 or (nbytes is not None and nbytes < 0):
            raise ValueError("positions and lengths are not negative")
        left = max(self.nbytes - start, 0)
        length = left if nbytes is None else min(nbytes, left)
        if length == 0:
            return b""
        try:
            return self._handle.read_bytes(start, length)
        except (MemoryError, OverflowError) as error:
            raise LimitError(f"{self.path}: no memory for {length} bytes") from error

    def read_into(self, out: Any, start: int = 0) -> None:
        """Fills a writable buffer with the bytes from a position on."""
        self._handle.read(start, out)

    def chunk(self, n: int) -> bytes:
        """A chunk as it is stored; `blosckit.decompress` decodes it."""
        return self._handle.chunk(n)


class Objects(Opened[_native.Objects]):
    """Objects, one after the other. Nothing in them is ever run."""

    _kind = "objects"

    @property
    def attrs(self) -> dict[str, Any]:
        """Lists of objects have no attributes."""
        return {}

    def __len__(self) -> int:
        return self._handle.count()

    def __getitem__(self, key: slice | int) -> Any:
        count = len(self)
        if isinstance(key, slice):
            start, stop, step = key.indices(count)
            if step == 1:
                return self._handle.get(start, max(start, stop))
            return [self._handle.get(at, at + 1)[0] for at in range(start, stop, step)]
        if not -count <= key < count:
            raise IndexError(f"index {key} is out of bounds for {count} objects")
        return self._handle.get(key % count, key % count + 1)[0]

    def __iter__(self) -> Iterator[Any]:
        for at in range(len(self)):
            yield self[at]

    def info(self) -> dict[str, Any]:
        """The properties, for people and programs."""
        return super().info() | {"objects": len(self)}

    def _summary(self) -> str:
        return f"{len(self)} objects, {self.format}"


class Recipe(Opened[_native.Recipe]):
    """A note how to get data, such as a lazy expression. The note is shown, never followed."""

    _kind = "recipe"

    @property
    def format(self) -> str:
        """The kind of note."""
        return self._handle.kind

    @property
    def attrs(self) -> dict[str, Any]:
        """Notes have no attributes."""
        return {}

    @property
    def description(self) -> Any:
        """The words of the file."""
        return self._handle.description
