"""zarr-python: the chunk as the only one of a Zarr array of bytes."""

import json
import os
import shutil
import tempfile

import zarr

from . import Unsupported, only_blosc1

NAME = "zarr-python"
FORMATS = {"chunk"}


def version():
    return zarr.__version__


def read(case, path):
    only_blosc1(case, path, has_snappy=False)
    nbytes = case.get("data", {}).get("nbytes", 8)
    if nbytes == 0:
        raise Unsupported
    folder = tempfile.mkdtemp()
    try:
        compressor = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}
        with open(os.path.join(folder, ".zarray"), "w") as file:
            json.dump({"zarr_format": 2, "shape": [nbytes], "chunks": [nbytes], "dtype": "|u1", "compressor": compressor, "fill_value": 0,
                       "order": "C", "filters": None}, file)
        shutil.copy(path, os.path.join(folder, "0"))
        return {"": zarr.open_array(folder, mode="r")[:].tobytes()}
    finally:
        shutil.rmtree(folder)
