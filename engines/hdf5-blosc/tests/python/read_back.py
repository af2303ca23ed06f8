"""Puts the chunks of examples/encode.rs into an HDF5 file and reads them: python read_back.py FOLDER (h5py, hdf5plugin)."""

import os
import sys

import h5py
import hdf5plugin
import numpy as np

folder = sys.argv[1]
expected = (np.arange(2500) // 3).astype("<u4")
names = sorted(name for name in os.listdir(folder) if name.endswith((".32001", ".32026")))
with h5py.File(os.path.join(folder, "all.h5"), "w") as file:
    for name in names:
        options = hdf5plugin.Blosc() if name.endswith("1") else hdf5plugin.Blosc2()
        data = file.create_dataset(name, shape=(2500,), chunks=(2500,), dtype="<u4", **options)
        data.id.write_direct_chunk((0,), open(os.path.join(folder, name), "rb").read())
with h5py.File(os.path.join(folder, "all.h5")) as file:
    for name in names:
        assert np.array_equal(file[name][:], expected), name
assert len(names) == 6, names
print(f"{len(names)} chunks equal")
