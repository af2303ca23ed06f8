"""The functions of libblosc, called through ctypes."""

import ctypes as c
import os

SIZE = c.c_size_t
TEXTS = (
    "blosc_get_version_string",
    "blosc_get_compressor",
    "blosc_list_compressors",
    "blosc_cbuffer_complib",
)
VARIABLES = (
    "CLEVEL SHUFFLE TYPESIZE COMPRESSOR BLOCKSIZE NTHREADS SPLITMODE NOLOCK WARN".split()
)


class Blosc:
    """One library. Results are plain values, so that those of two libraries can be compared."""

    def __init__(self, path):
        self.lib = c.CDLL(path)
        for name in TEXTS:
            getattr(self.lib, name).restype = c.c_char_p

    def compress(self, clevel, shuffle, typesize, data, nbytes, destsize):
        dest = c.create_string_buffer(len(data or b"") + (1 << 20))
        code = self.lib.blosc_compress(
            clevel, shuffle, SIZE(typesize), SIZE(nbytes), data, dest, SIZE(destsize)
        )
        return code, dest.raw[: max(code, 0)]

    def compress_ctx(
        self, clevel, shuffle, typesize, data, nbytes, destsize, name, blocksize, nthreads
    ):
        dest = c.create_string_buffer(len(data or b"") + (1 << 20))
        numbers = clevel, shuffle, SIZE(typesize), SIZE(nbytes)
        code = self.lib.blosc_compress_ctx(
            *numbers, data, dest, SIZE(destsize), name, SIZE(blocksize), nthreads
        )
        return code, dest.raw[: max(code, 0)]

    def decompress(self, chunk, room, destsize):
        dest = c.create_string_buffer(room + 1)
        code = self.lib.blosc_decompress(chunk, dest, SIZE(destsize))
        return code, dest.raw[: max(code, 0)]

    def decompress_ctx(self, chunk, room, destsize, nthreads):
        dest = c.create_string_buffer(room + 1)
        code = self.lib.blosc_decompress_ctx(chunk, dest, SIZE(destsize), nthreads)
        return code, dest.raw[: max(code, 0)]

    def getitem(self, chunk, start, nitems, room):
        dest = c.create_string_buffer(room + 1)
        code = self.lib.blosc_getitem(chunk, start, nitems, dest)
        return code, dest.raw[: max(code, 0)]

    def sizes(self, chunk):
        found = [SIZE(7), SIZE(7), SIZE(7)]
        self.lib.blosc_cbuffer_sizes(chunk, *map(c.byref, found))
        return tuple(value.value for value in found)

    def validate(self, chunk, cbytes):
        nbytes = SIZE(7)
        code = self.lib.blosc_cbuffer_validate(chunk, SIZE(cbytes), c.byref(nbytes))
        return code, nbytes.value

    def metainfo(self, chunk):
        typesize, flags = SIZE(7), c.c_int(7)
        self.lib.blosc_cbuffer_metainfo(chunk, c.byref(typesize), c.byref(flags))
        return typesize.value, flags.value

    def versions(self, chunk):
        version, versionlz = c.c_int(7), c.c_int(7)
        self.lib.blosc_cbuffer_versions(chunk, c.byref(version), c.byref(versionlz))
        return version.value, versionlz.value

    def complib(self, chunk):
        return self.lib.blosc_cbuffer_complib(chunk)

    def name_of(self, code):
        name = c.c_char_p(b"unset")
        return self.lib.blosc_compcode_to_compname(code, c.byref(name)), name.value

    def code_of(self, name):
        return self.lib.blosc_compname_to_compcode(name)

    def complib_info(self, name):
        # The versions of codecs differ.
        library, version = c.c_char_p(b"unset"), c.c_char_p(b"unset")
        code = self.lib.blosc_get_complib_info(name, c.byref(library), c.byref(version))
        return code, library.value, version.value is None

    def set_nthreads(self, n):
        return self.lib.blosc_set_nthreads(n)

    def set_compressor(self, name):
        return self.lib.blosc_set_compressor(name)

    def set_blocksize(self, n):
        self.lib.blosc_set_blocksize(SIZE(n))

    def set_splitmode(self, n):
        self.lib.blosc_set_splitmode(n)

    def state(self):
        lib = self.lib
        return lib.blosc_get_compressor(), lib.blosc_get_blocksize(), lib.blosc_get_nthreads()

    def init(self):
        self.lib.blosc_init()

    def destroy(self):
        self.lib.blosc_destroy()

    def free_resources(self):
        return self.lib.blosc_free_resources()


def set_variables(values):
    """Has the environment say these values, and nothing else that the library reads."""
    for name in VARIABLES:
        os.environ.pop("BLOSC_" + name, None)
    for name, value in values.items():
        os.environ["BLOSC_" + name] = value
