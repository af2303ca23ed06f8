"""python-blosc."""

import blosc

from . import only_blosc1

NAME = "python-blosc"
FORMATS = {"chunk"}


def version():
    return f"{blosc.__version__} (C-Blosc {blosc.blosclib_version.split()[0]})"


def read(case, path):
    only_blosc1(case, path, has_snappy=False)
    with open(path, "rb") as file:
        return {"": blosc.decompress(file.read())}
