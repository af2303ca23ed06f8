"""A libblosc by ctypes: CONFORMANCE_LIBRARY is its path."""

import ctypes
import os

from . import only_blosc1

LIBRARY = ctypes.CDLL(os.environ["CONFORMANCE_LIBRARY"])
NAME = os.environ["CONFORMANCE_NAME"]
FORMATS = {"chunk"}


def version():
    LIBRARY.blosc_get_version_string.restype = ctypes.c_char_p
    return LIBRARY.blosc_get_version_string().decode()


def read(case, path):
    only_blosc1(case, path)
    with open(path, "rb") as file:
        source = file.read()
    nbytes = ctypes.c_size_t()
    if LIBRARY.blosc_cbuffer_validate(source, ctypes.c_size_t(len(source)), ctypes.byref(nbytes)) < 0:
        raise ValueError("blosc_cbuffer_validate")
    out = ctypes.create_string_buffer(max(nbytes.value, 1))
    got = LIBRARY.blosc_decompress_ctx(source, out, nbytes, 1)
    if got < 0 or got != nbytes.value:
        raise ValueError(f"blosc_decompress_ctx gives {got}")
    return {"": out.raw[:got]}
