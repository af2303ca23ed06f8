"""Writes the samples of this folder: python write_samples.py FOLDER (h5py 3.16, hdf5plugin 7.1, tables 3.11)."""

import os
import sys

import h5py
import hdf5plugin
import numpy as np
import tables

folder = sys.argv[1]
rng = np.random.default_rng(2)
walk = np.cumsum(rng.integers(-3, 4, size=3000)).astype("<i4")
flat, cube = walk[:2880].reshape(48, 60), walk[:2880].reshape(8, 12, 30)

with h5py.File(os.path.join(folder, "hdf5plugin.h5"), "w", libver="latest") as file:
    for name, data in [("walk", walk), ("flat", flat), ("cube", cube)]:
        file.create_dataset(f"plain/{name}", data=data)
    for cname in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]:
        for shuffle in [0, 1, 2]:
            chunks = (20, 25) if shuffle else (48, 7)
            options = hdf5plugin.Blosc(cname=cname, clevel=5, shuffle=shuffle)
            file.create_dataset(f"blosc/{cname}/{shuffle}/flat", data=flat, chunks=chunks, **options)
    for cname in ["blosclz", "lz4", "zstd"]:
        for filters in [0, 1, 2]:
            options = hdf5plugin.Blosc2(cname=cname, clevel=5, filters=filters)
            group = f"blosc2/{cname}/{filters}"
            file.create_dataset(f"{group}/walk", data=walk, chunks=(1000,), **options)
            file.create_dataset(f"{group}/flat", data=flat, chunks=(20, 25), **options)
    options = hdf5plugin.Blosc2(cname="zstd", clevel=5, filters=1)
    file.create_dataset("blosc2/cube", data=cube, chunks=(5, 7, 30), **options)
    # The shuffle of HDF5 before, and a chunk without the filter.
    file.create_dataset("blosc/before/flat", data=flat, chunks=(20, 25), shuffle=True, **hdf5plugin.Blosc(shuffle=0))

with tables.open_file(os.path.join(folder, "pytables.h5"), "w") as file:
    file.create_array("/", "flat", flat)
    for complib in ["blosc:lz4", "blosc:zstd", "blosc2:blosclz", "blosc2:zstd"]:
        filters = tables.Filters(complevel=5, complib=complib, shuffle=True)
        file.create_carray("/" + complib.replace(":", "_"), "flat", obj=flat, filters=filters, chunkshape=(20, 25), createparents=True)
