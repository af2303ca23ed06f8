"""python-blosc2."""

import blosc2
import numpy

from . import Unsupported


NAME = "python-blosc2"
FORMATS = {"chunk", "frame", "sframe", "b2nd", "store", "table"}


def version():
    return f"{blosc2.__version__} (C-Blosc2 {blosc2.blosclib_version.split()[0]})"


def read(case, path):
    if "snappy" in case["id"]:  # a codec of Blosc 1 only
        raise Unsupported
    if case["format"] == "chunk":
        with open(path, "rb") as file:
            return {"": bytes(blosc2.decompress2(file.read()))}
    if case["format"] == "store" and path.endswith((".b2d", ".b2z")):
        value = blosc2.TreeStore(path, mode="r")
    else:
        value = blosc2.open(path, mode="r")
    wanted = case.get("members")
    if case["format"] == "table":
        if not hasattr(value, "col_names"):
            raise Unsupported
        return {name: rows(value[name]) for name in (value.col_names if wanted is None else wanted)}
    if case["format"] == "store" and hasattr(value, "keys") and not isinstance(value, blosc2.SChunk):
        return {key: content(value[key]) for key in (value.keys() if wanted is None else wanted)}
    if case["format"] == "b2nd" and not isinstance(value, blosc2.NDArray):
        raise TypeError("no array")
    if case["format"] != "store":
        value = value if isinstance(value, (blosc2.NDArray, blosc2.SChunk)) else value.schunk
    return {"": content(value)}


def content(value):
    """Bytes of arrays and frames, lists of other values; variable-length metadata are decoded as well."""
    if isinstance(value, blosc2.NDArray):
        metadata(value.schunk)
        return numpy.ascontiguousarray(value[()] if value.ndim == 0 else value[...]).tobytes()
    if isinstance(value, blosc2.SChunk):
        metadata(value)
        return b"".join(value.decompress_chunk(n) for n in range(value.nchunks))
    if isinstance(value, blosc2.BatchArray):
        return [item for batch in value for item in batch]
    return [] if hasattr(value, "keys") else list(value)


def metadata(schunk):
    for name in list(schunk.vlmeta):
        try:
            schunk.vlmeta[name]
        except ValueError as error:
            if "unpack" not in repr(error) and "ExtraData" not in repr(error):  # what is no MessagePack is opaque
                raise


def rows(column):
    found = column[:]
    found = found.tolist() if isinstance(found, numpy.ndarray) else [value.item() if isinstance(value, numpy.generic) else value for value in found]
    nulls = column.is_null() if hasattr(column, "is_null") else [False] * len(found)
    return [None if null else value for value, null in zip(found, nulls)]
