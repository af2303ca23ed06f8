"""Writes the samples of data that are called something else, or describe themselves in a way of their own.

usage: python make_called.py FOLDER       with blosc2 and numpy
"""

import pathlib
import sys

import blosc2
import numpy as np

folder = pathlib.Path(sys.argv[1])
reals = (np.arange(600) / 7).astype("<f4").reshape(20, 30)
blosc2.save_array(reals, str(folder / "saved-array.b2frame"), mode="w")
(folder / "packed-tensor.b2frame").write_bytes(blosc2.pack_tensor(reals[:3, :4].copy()))
pairs = np.array([(1, 2.5), (3, 4.5)], [("k", "<i4"), ("v", "<f8")])
blosc2.save_tensor(pairs, str(folder / "saved-struct.b2frame"), mode="w")
np.savez(folder / "two-arrays.npz", a=np.arange(6, dtype="<i4").reshape(2, 3), b=np.ones(2))
np.savez_compressed(folder / "packed-arrays.npz", a=np.arange(6, dtype="<i4").reshape(2, 3))
