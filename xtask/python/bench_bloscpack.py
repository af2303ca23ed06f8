"""The side of Bloscpack in `cargo xtask bench-peers --only bloscpack`."""

import collections
import collections.abc
import os

# Gone from collections since Python 3.10; Bloscpack 0.16.0 takes it from there.
collections.MutableMapping = collections.abc.MutableMapping

import blosc
import bloscpack

from side import serve

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def version(r):
    c_blosc = blosc.blosclib_version.split(" ")[0]
    return f"{bloscpack.__version__} with C-Blosc {c_blosc}, {blosc.detect_number_of_cores()} threads"


def remove(path):
    """Both sides write new files: one that is emptied is written to the disk when it is closed, and waited for then."""
    if os.path.exists(path):
        os.remove(path)


@case
def pack(r):
    remove(r["packed"])
    args = bloscpack.BloscArgs(typesize=r["typesize"], clevel=r["level"], cname=r["codec"])
    bloscpack.pack_file_to_file(r["plain"], r["packed"], blosc_args=args)
    return None


@case
def unpack(r):
    remove(r["plain"])
    bloscpack.unpack_file_from_file(r["packed"], r["plain"])
    return os.path.getsize(r["plain"])


if __name__ == "__main__":
    serve(CASES, globals())
