"""Requests of `oracle.py` to all original programs at once: small containers for damage and rescue.

A container lies on disk, at `path`, and holds the numbers of the request: as one content, or as two columns or values.
"""

import os
import zipfile

import bcolz
import blosc2
import bloscpack
import numpy

from ops_stores import remove

OPS = {}

NAMES = ["v", "w"]


def op(function):
    OPS[function.__name__] = function
    return function


def places(path, form):
    """Where the frames of a store lie: name of the file, position, length."""
    if form == "b2d":
        return [[f"{name}.b2nd", 0, os.path.getsize(os.path.join(path, f"{name}.b2nd"))] for name in NAMES]
    with open(path, "rb") as file:
        archive = file.read()
    with zipfile.ZipFile(path) as members:
        frames = [members.read(f"{name}.b2nd") for name in NAMES]
    return [["", archive.index(frame), len(frame)] for frame in frames]


@op
def rescue_make(r, *columns):
    form, path, chunk = r["form"], r["path"], r["chunk"]
    remove(path)
    numbers = [numpy.frombuffer(column, dtype="<i4") for column in columns]
    codec, filters = blosc2.Codec(r["codec"]), [blosc2.Filter(r["filter"])]
    cparams = dict(codec=codec, clevel=r["clevel"], filters=filters, typesize=4, blocksize=r["blocksize"])
    array = dict(chunks=(chunk,), blocks=(max(chunk // 3, 1),), cparams={**cparams, "blocksize": 0})
    if form in ("frame", "sparse"):
        where = dict(contiguous=form == "frame", urlpath=path, mode="w")
        schunk = blosc2.SChunk(chunksize=4 * chunk, data=columns[0], cparams=cparams, meta={"unit": b"K"}, **where)
        schunk.vlmeta["note"] = "a few words"
    elif form in ("b2nd", "b2nd-sparse"):
        blosc2.asarray(numbers[0], urlpath=path, mode="w", contiguous=form == "b2nd", **array)
    elif form == "blp":
        with open(path, "wb") as file:
            file.write(
                bloscpack.pack_bytes_to_bytes(
                    columns[0],
                    chunk_size=4 * chunk,
                    metadata={"unit": "K"} if r["clevel"] % 2 else None,
                    blosc_args=bloscpack.BloscArgs(4, r["clevel"], r["filter"] > 0, "lz4"),
                    bloscpack_args=bloscpack.BloscpackArgs(checksum=r["checksum"]),
                )
            )
    elif form in ("bcolz", "ctable"):
        how = dict(chunklen=chunk, cparams=bcolz.cparams(clevel=r["clevel"], shuffle=min(r["filter"], 1), cname="lz4"))
        if form == "bcolz":
            bcolz.carray(numbers[0], rootdir=path, mode="w", **how).flush()
        else:
            # Of carrays it would make copies with chunks of another length.
            bcolz.ctable(numbers, names=NAMES, rootdir=path, mode="w", **how).flush()
    else:
        with blosc2.DictStore(path, mode="w", threshold=0) as store:
            for name, column in zip(NAMES, numbers):
                store[f"/{name}"] = blosc2.asarray(column, **array)
        return (dict(places=places(path, form)),)
    return (dict(places=[]),)


def content(frame):
    """Of an array whose description is lost a super-chunk comes back."""
    found = frame[:]
    return found if isinstance(found, bytes) else found.tobytes()


@op
def rescue_read(r):
    """The contents, none of which is lost."""
    form, path = r["form"], r["path"]
    if form in ("frame", "sparse", "b2nd", "b2nd-sparse"):
        return {}, content(blosc2.open(path, mode="r"))
    if form == "blp":
        with open(path, "rb") as file:
            return {}, bloscpack.unpack_bytes_from_bytes(file.read())[0]
    if form == "bcolz":
        return {}, bcolz.open(path, mode="r")[:].tobytes()
    if form == "ctable":
        table = bcolz.open(path, mode="r")
        return {}, *[table[name][:].tobytes() if name in table.names else b"" for name in NAMES]
    store = blosc2.DictStore(path, mode="r")
    return {}, *[content(store[f"/{name}"]) if f"/{name}" in store else b"" for name in NAMES]
