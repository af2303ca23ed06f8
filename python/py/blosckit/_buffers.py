"""Buffers in memory."""

from __future__ import annotations

import functools
from typing import Any, overload

from blosckit import _native


class Encoder:
    """The same settings for many buffers. Threads may share one; it pickles by its settings."""

    def __init__(
        self,
        codec: str = "lz4",
        level: int = 5,
        shuffle: str = "byte",
        *,
        typesize: int | None = None,
        format: str = "blosc2",
        blocksize: int = 0,
        threads: int = 1,
    ) -> None:
        if typesize is not None and typesize < 1:
            raise ValueError("typesize must be at least 1")
        if threads < 1 or blocksize < 0:
            raise ValueError("threads must be at least 1, blocksize at least 0")
        self._native = _native.Encoder(codec, level, shuffle, typesize, format, blocksize, threads)

    def compress(self, data: Any) -> bytes:
        """One chunk of a C-contiguous buffer of less than 2 GiB."""
        return self._native.compress(data)


@functools.lru_cache(maxsize=16)
def kept_encoder(
    codec: str,
    level: int,
    shuffle: str,
    typesize: int | None,
    format: str,
    blocksize: int,
    threads: int,
) -> _native.Encoder:
    """The encoder of these settings: calls with the same ones share its memory."""
    encoder = Encoder(
        codec,
        level,
        shuffle,
        typesize=typesize,
        format=format,
        blocksize=blocksize,
        threads=threads,
    )
    return encoder._native


def compress(
    data: Any,
    codec: str = "lz4",
    level: int = 5,
    shuffle: str = "byte",
    *,
    typesize: int | None = None,
    format: str = "blosc2",
    threads: int = 1,
) -> bytes:
    """Compresses a C-contiguous buffer of less than 2 GiB to one chunk.

    The codec is `blosclz`, `lz4`, `lz4hc`, `zlib`, `zstd` or `snappy`; `shuffle` is `none`,
    `byte`, `bit`, or filters as in `delta,shuffle`. Items have the size that the buffer says.
    With `format="blosc"` C-Blosc 1 reads the chunk. No other thread may write to the buffer
    meanwhile, as with `zlib` and `hashlib`.
    """
    return kept_encoder(codec, level, shuffle, typesize, format, 0, threads).compress(data)


@overload
def decompress(
    chunk: Any,
    *,
    out: None = ...,
    start: int | None = ...,
    nitems: int | None = ...,
    max_nbytes: int | None = ...,
    threads: int = ...,
) -> bytes: ...
@overload
def decompress(
    chunk: Any,
    *,
    out: Any,
    start: int | None = ...,
    nitems: int | None = ...,
    max_nbytes: int | None = ...,
    threads: int = ...,
) -> int: ...
def decompress(
    chunk: Any,
    *,
    out: Any = None,
    start: int | None = None,
    nitems: int | None = None,
    max_nbytes: int | None = None,
    threads: int = 1,
) -> bytes | int:
    """The data of a chunk of any version, or some of its items.

    With `out` the data go to the start of a writable buffer, and their length is returned.
    A chunk that claims more than `max_nbytes` (1 GiB) is refused before memory is taken.
    """
    if (start or 0) < 0 or (nitems or 0) < 0:
        raise IndexError("items are counted from 0")
    found: bytes | int = _native.decompress(chunk, out, start, nitems, max_nbytes, threads)
    return found


def chunk_info(chunk: Any) -> dict[str, Any]:
    """The fields of the header of a chunk: sizes, codec, filters, kind."""
    return _native.chunk_info(chunk)
