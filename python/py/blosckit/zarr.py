"""The codec `blosc` of Zarr 3.

`zarr.config.set({"codecs.blosc": "blosckit.zarr.BloscCodec"})` chooses it. The metadata are those
of zarr's own codec.
"""

from __future__ import annotations

import asyncio
from typing import Any

import zarr.codecs
from zarr.core.array_spec import ArraySpec
from zarr.core.buffer import Buffer

from blosckit import _buffers

_SHUFFLES = {"noshuffle": "none", "shuffle": "byte", "bitshuffle": "bit"}


class BloscCodec(zarr.codecs.BloscCodec):
    """Compresses and decompresses without the GIL, and names what is wrong with a chunk."""

    def _decode_sync(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> Buffer:
        data = _buffers.decompress(chunk_bytes.as_numpy_array())
        return chunk_spec.prototype.buffer.from_bytes(data)

    def _encode_sync(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> Buffer | None:
        encoder = _buffers.kept_encoder(
            _text(self.cname),
            self.clevel,
            _SHUFFLES[_text(self.shuffle)],
            self.typesize if self.typesize <= 255 else 1,
            "blosc",
            self.blocksize,
            1,
        )
        chunk = encoder.compress(chunk_bytes.as_numpy_array())
        return chunk_spec.prototype.buffer.from_bytes(chunk)

    async def _decode_single(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> Buffer:
        return await asyncio.to_thread(self._decode_sync, chunk_bytes, chunk_spec)

    async def _encode_single(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> Buffer | None:
        return await asyncio.to_thread(self._encode_sync, chunk_bytes, chunk_spec)


def _text(choice: Any) -> str:
    """The word of an enumeration, which later releases of zarr have as a plain text."""
    return str(getattr(choice, "value", choice))


__all__ = ["BloscCodec"]
