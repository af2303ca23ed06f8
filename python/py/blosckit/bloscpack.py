"""The ten functions of Bloscpack: `import blosckit.bloscpack as bloscpack`.

Files are those of Bloscpack 0.16, which reads them, too. Nothing is ever unpickled.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from blosckit import _dtype, _native
from blosckit._create import load
from blosckit._open import open as _open

DEFAULT_CHUNK_SIZE = "1.0M"
_UNITS = {"B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass
class BloscArgs:
    """How chunks are compressed; `shuffle` is a truth value, or 2 for bitshuffle."""

    typesize: int = 8
    clevel: int = 7
    shuffle: bool | int = True
    cname: str = "blosclz"


@dataclass
class BloscpackArgs:
    """The parts of a file beside its chunks."""

    offsets: bool = True
    checksum: str = "adler32"
    max_app_chunks: Any = None


@dataclass
class MetadataArgs:
    """How metadata are stored; the defaults of Bloscpack are used."""

    magic_format: bytes | str = b"JSON"
    meta_checksum: str = "adler32"
    meta_codec: str = "zlib"
    meta_level: int = 6
    max_meta_size: Any = None


def _nbytes(size: int | str) -> int:
    if isinstance(size, int):
        return size
    if size == "max":
        return 2**31 - 1 - 16
    number, unit = (size[:-1], size[-1]) if size[-1] in _UNITS else (size, "B")
    return int(float(number) * _UNITS[unit])


def _options(
    chunk_size: int | str,
    metadata: Any,
    blosc_args: BloscArgs | None,
    bloscpack_args: BloscpackArgs | None,
) -> dict[str, Any]:
    # Scripts for releases before 0.6 have dictionaries.
    blosc = BloscArgs(**blosc_args) if isinstance(blosc_args, dict) else blosc_args or BloscArgs()
    file = bloscpack_args or BloscpackArgs()
    if isinstance(file, dict):
        file = BloscpackArgs(**file)
    shuffle = {0: "none", 1: "byte", 2: "bit"}[int(blosc.shuffle)]
    return {
        "codec": blosc.cname,
        "level": blosc.clevel,
        "shuffle": shuffle,
        "typesize": blosc.typesize,
        "chunksize": _nbytes(chunk_size),
        "checksum": file.checksum,
        "offsets": file.offsets,
        "metadata": None if metadata is None else json.dumps(metadata),
        "array": None,
    }


def _write(path: str | os.PathLike[str], content: bytes) -> None:
    """The file appears whole, as the original's did."""
    name = os.fspath(path)
    unfinished = f"{name}.{os.getpid()}.tmp"
    try:
        with open(unfinished, "wb") as file:
            file.write(content)
        os.replace(unfinished, name)
    except BaseException:
        if os.path.exists(unfinished):
            os.remove(unfinished)
        raise


def pack_bytes_to_bytes(
    bytes_: Any,
    chunk_size: int | str = DEFAULT_CHUNK_SIZE,
    metadata: Any = None,
    blosc_args: BloscArgs | None = None,
    bloscpack_args: BloscpackArgs | None = None,
    metadata_args: MetadataArgs | None = None,
) -> bytes:
    """Bytes as a Bloscpack file in memory."""
    return _native.blp_pack(bytes_, _options(chunk_size, metadata, blosc_args, bloscpack_args))


def unpack_bytes_from_bytes(bytes_: Any) -> tuple[bytes, Any]:
    """The bytes, and the metadata or `None`."""
    data, metadata = _native.blp_unpack(bytes_)
    return data, None if metadata is None else json.loads(metadata)


def pack_bytes_to_file(
    bytes_: Any,
    filename: str | os.PathLike[str],
    chunk_size: int | str = DEFAULT_CHUNK_SIZE,
    metadata: Any = None,
    blosc_args: BloscArgs | None = None,
    bloscpack_args: BloscpackArgs | None = None,
    metadata_args: MetadataArgs | None = None,
) -> None:
    """Bytes as a file."""
    packed = pack_bytes_to_bytes(
        bytes_, chunk_size, metadata, blosc_args, bloscpack_args, metadata_args
    )
    _write(filename, packed)


def unpack_bytes_from_file(filename: str | os.PathLike[str]) -> tuple[bytes, Any]:
    """The bytes of a file, and its metadata or `None`."""
    with open(filename, "rb") as file:
        return unpack_bytes_from_bytes(file.read())


def pack_file_to_file(
    in_file: str | os.PathLike[str],
    out_file: str | os.PathLike[str],
    chunk_size: int | str = DEFAULT_CHUNK_SIZE,
    metadata: Any = None,
    blosc_args: BloscArgs | None = None,
    bloscpack_args: BloscpackArgs | None = None,
    metadata_args: MetadataArgs | None = None,
) -> None:
    """The bytes of a file as another file."""
    with open(in_file, "rb") as file:
        data = file.read()
    pack_bytes_to_file(
        data, out_file, chunk_size, metadata, blosc_args, bloscpack_args, metadata_args
    )


def unpack_file_from_file(
    in_file: str | os.PathLike[str], out_file: str | os.PathLike[str]
) -> Any:
    """Writes the bytes of a file to another file; the metadata or `None`."""
    data, metadata = unpack_bytes_from_file(in_file)
    _write(out_file, data)
    return metadata


def pack_ndarray_to_bytes(
    ndarray: npt.NDArray[Any],
    chunk_size: int | str = DEFAULT_CHUNK_SIZE,
    blosc_args: BloscArgs | None = None,
    bloscpack_args: BloscpackArgs | None = None,
    metadata_args: MetadataArgs | None = None,
) -> bytes:
    """An array as a Bloscpack file in memory."""
    items = np.ascontiguousarray(ndarray).reshape(np.shape(ndarray))
    options = _options(chunk_size, None, blosc_args, bloscpack_args)
    options["array"] = (_dtype.to_text(items.dtype), list(items.shape))
    return _native.blp_pack(_dtype.as_bytes(items), options)


def unpack_ndarray_from_bytes(bytes_: Any) -> npt.NDArray[Any]:
    """The array of a file in memory."""
    with _open(bytes_) as found:
        return _array_of(found)


def pack_ndarray_to_file(
    ndarray: npt.NDArray[Any],
    filename: str | os.PathLike[str],
    chunk_size: int | str = DEFAULT_CHUNK_SIZE,
    blosc_args: BloscArgs | None = None,
    bloscpack_args: BloscpackArgs | None = None,
    metadata_args: MetadataArgs | None = None,
) -> None:
    """An array as a file."""
    packed = pack_ndarray_to_bytes(ndarray, chunk_size, blosc_args, bloscpack_args, metadata_args)
    _write(filename, packed)


def unpack_ndarray_from_file(filename: str | os.PathLike[str]) -> npt.NDArray[Any]:
    """The array of a file."""
    return load(filename)


def _array_of(found: Any) -> npt.NDArray[Any]:
    if not hasattr(found, "dtype"):
        raise ValueError("the file holds no array")
    return np.asarray(found[...])


__all__ = [
    "BloscArgs",
    "BloscpackArgs",
    "MetadataArgs",
    "pack_bytes_to_bytes",
    "pack_bytes_to_file",
    "pack_file_to_file",
    "pack_ndarray_to_bytes",
    "pack_ndarray_to_file",
    "unpack_bytes_from_bytes",
    "unpack_bytes_from_file",
    "unpack_file_from_file",
    "unpack_ndarray_from_bytes",
    "unpack_ndarray_from_file",
]
