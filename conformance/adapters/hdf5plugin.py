"""hdf5plugin: the chunk as the only one of an HDF5 dataset of bytes, with the filter Blosc."""

import os
import tempfile

import h5py
import hdf5plugin as package
import numpy

from . import Unsupported, only_blosc1

NAME = "hdf5plugin"
FORMATS = {"chunk"}
BLOSC = 32001


def version():
    return package.version


def read(case, path):
    nbytes = case.get("data", {}).get("nbytes", 8)
    only_blosc1(case, path, has_snappy=False)
    if nbytes == 0:
        raise Unsupported
    with open(path, "rb") as file:
        stored = file.read()
    handle, name = tempfile.mkstemp(suffix=".h5")
    os.close(handle)
    try:
        with h5py.File(name, "w") as file:
            data = file.create_dataset("d", (nbytes,), "u1", chunks=(nbytes,), compression=BLOSC, compression_opts=(2, 2, 1, nbytes, 5, 1, 1))
            data.id.write_direct_chunk((0,), stored)
        with h5py.File(name, "r") as file:
            return {"": numpy.asarray(file["d"][:]).tobytes()}
    finally:
        os.unlink(name)
