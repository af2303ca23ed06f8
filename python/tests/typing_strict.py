"""Checked by `mypy --strict`: what users write has types."""

from __future__ import annotations

import blosckit as bk
import numpy as np

chunk: bytes = bk.compress(np.arange(10), "zstd", threads=2)
data: bytes = bk.decompress(chunk)
count: int = bk.decompress(chunk, out=bytearray(80))
opened = bk.open("x.b2nd")
if isinstance(opened, bk.Array):
    shape: tuple[int, ...] = opened.shape
    for key, block in opened.iter_chunks():
        slices: tuple[slice, ...] = key
        print(block.dtype)
if isinstance(opened, bk.Table):
    names: list[str] = opened.columns
    rows: np.ndarray[tuple[int, ...], np.dtype[np.int64]] = opened.rows_where("a > 1")
report: bk.Report = bk.verify("x.b2nd")
bad: list[bk.BadChunk] = report.bad
