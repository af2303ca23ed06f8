"""New files: `create`, `save`, `load`."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from blosckit import _dtype, _native
from blosckit._array import Array
from blosckit._edit import (
    ArrayEditor,
    FrameEditor,
    Station,
    StoreEditor,
    options_of,
    pack_array,
)
from blosckit._open import open
from blosckit._threads import threads as threads_of

_STORES = (".b2z", ".b2d", ".b2e")


def create(
    path: str | os.PathLike[str],
    shape: tuple[int, ...] | int | None = None,
    dtype: npt.DTypeLike | None = None,
    *,
    chunks: tuple[int, ...] | None = None,
    blocks: tuple[int, ...] | None = None,
    codec: str = "zstd",
    level: int = 5,
    shuffle: str = "byte",
    fill: Any = None,
    checksums: str | None = None,
    typesize: int = 1,
    threads: int | None = None,
    overwrite: bool = False,
) -> ArrayEditor | FrameEditor | StoreEditor:
    """Makes an array (with a shape), a store (`.b2z`, `.b2d`, `.b2e`), or else a frame of bytes.

    An array at a path that ends in `.sframe` is a folder with a file for each chunk. `fill` is
    the value of items that are not written, `checksums` is `body`, `chunks` or `none`.
    """
    name = os.fspath(path)
    if os.path.lexists(name):
        if not overwrite:
            raise FileExistsError(17, "File exists", name)
        if os.path.isdir(name):
            raise IsADirectoryError(21, "a folder is not overwritten", name)
    if name.endswith(_STORES):
        if shape is not None:
            raise ValueError("a store has no shape: arrays are put into it by their keys")
        station = Station(name, overwrite)
        return StoreEditor(_native.StoreWriter(station.path, True), name, station)
    if shape is None:
        station = Station(name, overwrite)
        writer = _native.FrameWriter.create(station.path, typesize, None, codec, level, shuffle)
        return FrameEditor(writer, name, station)
    kind = np.dtype(np.float64 if dtype is None else dtype)
    lens = [shape] if isinstance(shape, int) else list(shape)
    if any(n < 0 for n in lens):
        raise ValueError("lengths are not negative")
    item = None if fill is None else np.asarray(fill, dtype=kind).tobytes()
    options = options_of(
        chunks=chunks,
        blocks=blocks,
        codec=codec,
        level=level,
        shuffle=shuffle,
        fill=item,
        checksums=checksums,
    )
    station = Station(name, overwrite)
    is_sparse, text = name.endswith(".sframe"), _dtype.to_text(kind)
    array = _native.ArrayWriter.create(
        station.path, is_sparse, lens, text, options, threads_of(threads)
    )
    return ArrayEditor(array, name, station)


_BY_SUFFIX = {
    ".b2nd": "b2nd",
    ".b2frame": "b2nd",
    ".b2f": "b2nd",
    ".sframe": "sframe",
    ".blp": "blp",
    ".npy": "npy",
    ".bcolz": "carray",
}


def save(
    path: str | os.PathLike[str],
    array: npt.ArrayLike,
    *,
    codec: str = "zstd",
    level: int = 5,
    shuffle: str = "byte",
    chunks: tuple[int, ...] | None = None,
    overwrite: bool = True,
) -> None:
    """Writes an array to one file, whose suffix tells the format: `.b2nd`, `.blp`, `.npy`, ...

    The file appears whole or not at all.
    """
    name = os.fspath(path)
    if not overwrite and os.path.lexists(name):
        raise FileExistsError(17, "File exists", name)
    suffix = os.path.splitext(name)[1]
    if suffix not in _BY_SUFFIX:
        raise ValueError(f"{name}: no format has the suffix {suffix!r}")
    format = _BY_SUFFIX[suffix]
    frame = pack_array(array, codec=codec, level=level, shuffle=shuffle, chunks=chunks)
    # Chunks of a frame are moved as they are.
    options = options_of()
    if format not in ("b2nd", "sframe", "npy"):
        options = options_of(codec, level, shuffle)
    _native.save_array(frame, name, format, options)


def load(path: Any) -> npt.NDArray[Any]:
    """The whole array of a file, of any format."""
    with open(path) as found:
        if not isinstance(found, Array):
            raise ValueError(f"{path} is no array")
        return np.asarray(found[...])
