"""numcodecs, the codecs of zarr-python."""

import numcodecs as package
from numcodecs.blosc import decompress

from . import only_blosc1

NAME = "numcodecs"
FORMATS = {"chunk"}


def version():
    return package.__version__


def read(case, path):
    only_blosc1(case, path, has_snappy=False)
    with open(path, "rb") as file:
        return {"": bytes(decompress(file.read()))}
