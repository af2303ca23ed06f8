"""Bloscpack. Its releases want a name that Python 3.10 moved."""

import collections
import collections.abc
import io
import logging

collections.MutableMapping = collections.abc.MutableMapping

import bloscpack as package  # noqa: E402

from . import Unsupported  # noqa: E402

NAME = "bloscpack"
FORMATS = {"blp"}
logging.disable(logging.CRITICAL)


def version():
    return package.__version__


def read(case, path):
    if "snappy" in case["id"]:  # the wheel of python-blosc is built without it
        raise Unsupported
    with open(path, "rb") as file:
        data = file.read()
    source = package.CompressedFPSource(io.BytesIO(data)) if hasattr(package, "CompressedFPSource") else None
    if source is None:
        return {"": package.unpack_bytes_from_bytes(data)[0]}
    from bloscpack.memory_io import PlainMemorySink
    from bloscpack.abstract_io import unpack
    sink = PlainMemorySink(source.nchunks)
    unpack(source, sink)
    return {"": b"".join(sink.chunks)}
