"""Reads what interrupted writers left, for `cargo xtask crash --originals`.

Each line of standard input names a container and the path of it, separated by a tab. The answer is
a line: `ok` and the SHA-256 of its data, or what went wrong.
"""

import collections
import collections.abc
import hashlib
import os
import sys

# Bloscpack asks for a name that Python 3.10 took away.
collections.MutableMapping = collections.abc.MutableMapping

import bcolz
import blosc2
import bloscpack
import numpy


def chunks_of(value):
    """The data of all chunks; of an array in the order of its blocks, as xtask takes it."""
    schunk = getattr(value, "schunk", value)
    return b"".join(schunk.decompress_chunk(n) for n in range(schunk.nchunks))


def frame(path):
    return chunks_of(blosc2.open(path, mode="r"))


def array(path):
    return numpy.ascontiguousarray(blosc2.open(path, mode="r")[...]).tobytes()


def store(path):
    data = b""
    if path.endswith(".b2e"):
        opened = blosc2.EmbedStore(urlpath=path, mode="r")
    else:
        opened = blosc2.TreeStore(path, mode="r")
    for key in ["/bytes", "/group/array", "/group/more", "/n", "/new/deep/n"]:
        if key in opened:
            data += chunks_of(opened[key])
    for key in ["/other", "/table"]:
        if not path.endswith(".b2e") and key in opened:
            data += numpy.asarray(opened[key]["id"][:]).astype("<i8").tobytes()
        elif key + "/_cols/id" in opened:
            # One frame has no tables for python-blosc2, but all that they are made of.
            is_alive = opened[key + "/_valid_rows"][:]
            data += opened[key + "/_cols/id"][:][is_alive].astype("<i8").tobytes()
    return data


READERS = {
    "frame": frame,
    "sparse-frame": frame,
    "b2nd": array,
    "sparse-b2nd": array,
    "blp": lambda path: bloscpack.unpack_bytes_from_file(path)[0],
    "carray": lambda path: numpy.ascontiguousarray(bcolz.open(path, mode="r")[:]).tobytes(),
    "b2z": lambda path: store(os.path.join(path, "x.b2z")),
    "b2d": lambda path: store(os.path.join(path, "x.b2d")),
    "b2e": lambda path: store(os.path.join(path, "x.b2e")),
}

for line in sys.stdin:
    try:
        container, path = line.rstrip("\n").split("\t")
        answer = "ok " + hashlib.sha256(READERS[container](path)).hexdigest()
    except Exception as error:  # noqa: BLE001: whatever it is, the task reports it
        answer = f"{type(error).__name__}: {error}".replace("\n", " ")
    print(answer, flush=True)
