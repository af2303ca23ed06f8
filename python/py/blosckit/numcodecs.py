"""Codecs for numcodecs, and so for Zarr 2 and kerchunk.

`Blosc` writes the format of `numcodecs.Blosc` and has its configuration. numcodecs looks at its own
codecs first, so that `register()` is needed to put this one in the place of the other.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numcodecs.abc import Codec
from numcodecs.compat import ensure_contiguous_ndarray
from numcodecs.registry import register_codec

from blosckit import _buffers, _native

NOSHUFFLE = 0
SHUFFLE = 1
BITSHUFFLE = 2
AUTOSHUFFLE = -1
_SHUFFLES = {NOSHUFFLE: "none", SHUFFLE: "byte", BITSHUFFLE: "bit"}


class _Chunks(Codec):  # type: ignore[misc]
    """The common part of both codecs: one chunk for each buffer."""

    _format: ClassVar[str]
    max_buffer_size = 2**31 - 1

    def __init__(
        self,
        cname: str = "lz4",
        clevel: int = 5,
        shuffle: int = SHUFFLE,
        blocksize: int = 0,
        typesize: int | None = None,
    ) -> None:
        if shuffle != AUTOSHUFFLE and shuffle not in _SHUFFLES:
            raise ValueError(f"shuffle {shuffle}: -1, 0, 1 or 2")
        self.cname = cname
        self.clevel = clevel
        self.shuffle = shuffle
        self.blocksize = blocksize
        self._typesize = typesize

    def encode(self, buf: Any) -> bytes:
        """One chunk of a buffer of less than 2 GiB."""
        data = ensure_contiguous_ndarray(buf, self.max_buffer_size)
        typesize = self._typesize or data.dtype.itemsize
        shuffle = self.shuffle
        if shuffle == AUTOSHUFFLE:
            shuffle = BITSHUFFLE if typesize == 1 else SHUFFLE
        # Items that are wider than the header can say are compressed as bytes.
        width = typesize if typesize <= 255 else 1
        encoder = _buffers.kept_encoder(
            self.cname, self.clevel, _SHUFFLES[shuffle], width, self._format, self.blocksize, 1
        )
        return encoder.compress(data)

    def decode(self, buf: Any, out: Any = None) -> Any:
        """The data of a chunk; in `out`, if there is one, which may be longer."""
        # Small chunks take less time than the checks of numcodecs, which bytes do not need.
        is_plain = isinstance(buf, bytes)
        chunk = buf if is_plain else ensure_contiguous_ndarray(buf, self.max_buffer_size)
        if out is None:
            return _native.decompress(chunk, None, None, None, None, 1)
        is_plain = isinstance(out, np.ndarray) and out.flags.c_contiguous
        memory = out if is_plain else ensure_contiguous_ndarray(out)
        _native.decompress(chunk, memory, None, None, None, 1)
        return out

    def decode_partial(self, buf: Any, start: int, nitems: int, out: Any = None) -> Any:
        """Some items of a chunk."""
        chunk = ensure_contiguous_ndarray(buf, self.max_buffer_size)
        if out is None:
            return _buffers.decompress(chunk, start=start, nitems=nitems)
        memory = ensure_contiguous_ndarray(out)
        _buffers.decompress(chunk, start=start, nitems=nitems, out=memory)
        return out

    def get_config(self) -> dict[str, Any]:
        """The configuration that metadata keep."""
        return {
            "id": self.codec_id,
            "cname": self.cname,
            "clevel": self.clevel,
            "shuffle": self.shuffle,
            "blocksize": self.blocksize,
        }

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(cname={self.cname!r}, clevel={self.clevel!r}, "
            f"shuffle={self.shuffle!r}, blocksize={self.blocksize!r})"
        )


class Blosc(_Chunks):
    """Chunks of C-Blosc 1, with the arguments and the configuration of `numcodecs.Blosc`."""

    codec_id = "blosc"
    _format = "blosc"
    NOSHUFFLE = NOSHUFFLE
    SHUFFLE = SHUFFLE
    BITSHUFFLE = BITSHUFFLE
    AUTOSHUFFLE = AUTOSHUFFLE


class Blosc2(_Chunks):
    """Chunks of C-Blosc2."""

    codec_id = "blosckit.blosc2"
    _format = "blosc2"


def register() -> None:
    """Puts `Blosc` in the place of `numcodecs.Blosc`, and adds `Blosc2`."""
    register_codec(Blosc)
    register_codec(Blosc2)


__all__ = ["AUTOSHUFFLE", "BITSHUFFLE", "NOSHUFFLE", "SHUFFLE", "Blosc", "Blosc2", "register"]
