"""The C functions of C-Blosc2 for single chunks, called as a C program would; part of `oracle.py`.

A reply tells the codes that the functions return, and has what they wrote. `CODES` below zero, or of another size than
requested, are for the caller to judge.
"""

import contextlib
import ctypes
import os
import struct

import blosc2

MAX_FILTERS = 6
OVERHEAD = 32
# The byte of a buffer before C writes to it.
UNTOUCHED = b"\xaa"

OPS = {}


def op(function):
    OPS[function.__name__] = function
    return function


class CParams(ctypes.Structure):
    _fields_ = [
        ("compcode", ctypes.c_uint8),
        ("compcode_meta", ctypes.c_uint8),
        ("clevel", ctypes.c_uint8),
        ("use_dict", ctypes.c_int),
        ("typesize", ctypes.c_int32),
        ("nthreads", ctypes.c_int16),
        ("blocksize", ctypes.c_int32),
        ("splitmode", ctypes.c_int32),
        ("schunk", ctypes.c_void_p),
        ("filters", ctypes.c_uint8 * MAX_FILTERS),
        ("filters_meta", ctypes.c_uint8 * MAX_FILTERS),
        ("prefilter", ctypes.c_void_p),
        ("preparams", ctypes.c_void_p),
        ("tuner_params", ctypes.c_void_p),
        ("tuner_id", ctypes.c_int),
        ("instr_codec", ctypes.c_bool),
        ("codec_params", ctypes.c_void_p),
        ("filter_params", ctypes.c_void_p * MAX_FILTERS),
    ]


class DParams(ctypes.Structure):
    _fields_ = [
        ("nthreads", ctypes.c_int16),
        ("schunk", ctypes.c_void_p),
        ("postfilter", ctypes.c_void_p),
        ("postparams", ctypes.c_void_p),
        ("typesize", ctypes.c_int32),
    ]


class Storage(ctypes.Structure):
    _fields_ = [
        ("contiguous", ctypes.c_bool),
        ("urlpath", ctypes.c_char_p),
        ("cparams", ctypes.POINTER(CParams)),
        ("dparams", ctypes.POINTER(DParams)),
        ("io", ctypes.c_void_p),
    ]


def library():
    folder = os.path.join(os.path.dirname(blosc2.__file__), "lib")
    lib = ctypes.CDLL(os.path.join(folder, "libblosc2.so"))
    i32, ptr = ctypes.c_int32, ctypes.c_void_p
    for name, result, *arguments in [
        ("init", None),
        ("create_cctx", ptr, CParams),
        ("create_dctx", ptr, DParams),
        ("free_ctx", None, ptr),
        ("compress_ctx", i32, ptr, ptr, i32, ptr, i32),
        ("decompress_ctx", i32, ptr, ptr, i32, ptr, i32),
        ("getitem_ctx", i32, ptr, ptr, i32, i32, i32, ptr, i32),
        ("getitem_bytes_ctx", i32, ptr, ptr, i32, i32, i32, ptr, i32),
        ("set_maskout", i32, ptr, ptr, i32),
        ("cbuffer_sizes", i32, ptr, ptr, ptr, ptr),
        ("vlcompress_ctx", i32, ptr, ptr, ptr, i32, ptr, i32),
        ("vldecompress_ctx", i32, ptr, ptr, i32, ptr, ptr, i32),
        ("vldecompress_block_ctx", i32, ptr, ptr, i32, i32, ptr, ptr),
        ("vlchunk_get_nblocks", i32, ptr, i32, ptr),
        ("chunk_zeros", i32, CParams, i32, ptr, i32),
        ("chunk_nans", i32, CParams, i32, ptr, i32),
        ("chunk_uninit", i32, CParams, i32, ptr, i32),
        ("chunk_repeatval", i32, CParams, i32, ptr, i32, ptr),
        ("schunk_new", ptr, ctypes.POINTER(Storage)),
        ("schunk_free", i32, ptr),
        ("meta_add", i32, ptr, ctypes.c_char_p, ptr, i32),
    ]:
        function = getattr(lib, "blosc2_" + name)
        function.restype, function.argtypes = result, arguments
    lib.blosc2_init()
    return lib


LIB = library()
LIBC = ctypes.CDLL(None)
LIBC.free.argtypes = [ctypes.c_void_p]


# Contexts -----------------------------------------------------------------------------------------------


def params(r):
    return CParams(
        compcode=r["codec"],
        compcode_meta=r["codec_meta"],
        clevel=r["clevel"],
        use_dict=r["use_dict"],
        typesize=r["typesize"],
        nthreads=r["nthreads"],
        blocksize=r["blocksize"],
        splitmode=r["splitmode"],
        filters=(ctypes.c_uint8 * MAX_FILTERS)(*r["filters"]),
        filters_meta=(ctypes.c_uint8 * MAX_FILTERS)(*r["filters_meta"]),
    )


@contextlib.contextmanager
def schunk_of(r):
    """A super-chunk that says which shape a block has, where plugins want to know; else none."""
    if not r["shape"]:
        yield None
        return
    plain = CParams(typesize=r["typesize"], nthreads=1)
    schunk = LIB.blosc2_schunk_new(ctypes.byref(Storage(cparams=ctypes.pointer(plain))))
    meta = nd_meta(r["shape"])
    LIB.blosc2_meta_add(schunk, b"b2nd", meta, len(meta))
    yield schunk
    LIB.blosc2_schunk_free(schunk)


def nd_meta(shape):
    """The metalayer of an array of one block."""
    ndim = len(shape)
    meta = struct.pack(">BBBB", 0x97, 0, ndim, 0x90 + ndim)
    meta += b"".join(struct.pack(">Bq", 0xD3, n) for n in shape)
    for _ in "chunkshape", "blockshape":
        meta += struct.pack(">B", 0x90 + ndim)
        meta += b"".join(struct.pack(">Bi", 0xD2, n) for n in shape)
    return meta + struct.pack(">BBI", 0, 0xDB, 3) + b"|u1"


@contextlib.contextmanager
def cctx(r):
    with schunk_of(r) as schunk:
        cparams = params(r)
        cparams.schunk = schunk
        context = LIB.blosc2_create_cctx(cparams)
        yield context
        LIB.blosc2_free_ctx(context)


@contextlib.contextmanager
def dctx(r):
    with schunk_of(r) as schunk:
        dparams = DParams(nthreads=r["nthreads"], schunk=schunk, typesize=r["typesize"])
        context = LIB.blosc2_create_dctx(dparams)
        yield context
        LIB.blosc2_free_ctx(context)


def buffer(nbytes):
    return ctypes.create_string_buffer(UNTOUCHED * nbytes, max(nbytes, 1))


def filled(dest, code):
    """The bytes from a function that returned `code`."""
    return dest.raw[: max(code, 0)]


# Chunks -------------------------------------------------------------------------------------------------


@op
def c_write(r, data):
    room = len(data) + OVERHEAD + r["room"]
    # With many filters, C writes into the source.
    src, dest = ctypes.create_string_buffer(data, max(len(data), 1)), buffer(room)
    with cctx(r) as context:
        code = LIB.blosc2_compress_ctx(context, src, len(data), dest, room)
    return {"code": code}, filled(dest, code)


@op
def c_read(r, chunk):
    """The whole chunk, items of it, bytes of it, and the blocks that are not masked out."""
    nbytes = int.from_bytes(chunk[4:8], "little")
    reply, parts = {"sizes": sizes(chunk)}, []

    def ask(function, dest, *arguments):
        with dctx(r) as context:
            if function is LIB.blosc2_decompress_ctx and arguments:
                (mask,) = arguments
                LIB.blosc2_set_maskout(context, mask, len(mask))
                code = function(context, chunk, len(chunk), dest, nbytes)
            else:
                code = function(context, chunk, len(chunk), *arguments, dest, len(dest))
        parts.append(dest.raw)
        return code

    reply["code"] = ask(LIB.blosc2_decompress_ctx, buffer(nbytes))
    reply["items"] = [
        ask(LIB.blosc2_getitem_ctx, buffer((stop - start) * chunk[3]), start, stop - start)
        for start, stop in r["items"]
    ]
    reply["bytes"] = [
        ask(LIB.blosc2_getitem_bytes_ctx, buffer(stop - start), start, stop - start) for start, stop in r["bytes"]
    ]
    if r["mask"]:
        mask = (ctypes.c_bool * len(r["mask"]))(*r["mask"])
        reply["masked"] = ask(LIB.blosc2_decompress_ctx, buffer(nbytes), mask)
    # A buffer of no bytes has one.
    lens = [nbytes] + [(b - a) * chunk[3] for a, b in r["items"]] + [b - a for a, b in r["bytes"]] + [nbytes]
    return reply, *(part[:n] for part, n in zip(parts, lens))


def sizes(chunk):
    values = [ctypes.c_int32() for _ in range(3)]
    code = LIB.blosc2_cbuffer_sizes(chunk, *(ctypes.byref(value) for value in values))
    return [code] + [value.value for value in values]


@op
def c_special(r, value):
    """A chunk without data."""
    dest = buffer(OVERHEAD + len(value))
    function = getattr(LIB, "blosc2_chunk_" + r["special"])
    arguments = [ctypes.create_string_buffer(value, len(value))] if r["special"] == "repeatval" else []
    code = function(params(r), r["nbytes"], dest, len(dest), *arguments)
    return {"code": code}, filled(dest, code)


# VL-block chunks ----------------------------------------------------------------------------------------


@op
def c_vl_write(r, *blocks):
    # C-Blosc2 crashes where there is no room for everything as it is, and a dictionary.
    room = OVERHEAD + 8 * len(blocks) + sum(map(len, blocks)) + 4 + (32 << 10)
    dest = buffer(room)
    srcs = [ctypes.create_string_buffer(block, len(block)) for block in blocks]
    pointers = (ctypes.c_void_p * len(blocks))(*(ctypes.addressof(src) for src in srcs))
    lens = (ctypes.c_int32 * len(blocks))(*map(len, blocks))
    with cctx(r) as context:
        code = LIB.blosc2_vlcompress_ctx(context, pointers, lens, len(blocks), dest, room)
    return {"code": code}, filled(dest, code)


@op
def c_vl_read(r, chunk):
    """The chunk as a whole, its blocks in one call, and each of them in its own."""
    nbytes = int.from_bytes(chunk[4:8], "little")
    nblocks, whole = ctypes.c_int32(), buffer(nbytes)
    reply = {"count": LIB.blosc2_vlchunk_get_nblocks(chunk, len(chunk), ctypes.byref(nblocks))}
    with dctx(r) as context:
        reply["code"] = LIB.blosc2_decompress_ctx(context, chunk, len(chunk), whole, nbytes)
    count = nblocks.value
    dests, lens = (ctypes.c_void_p * count)(), (ctypes.c_int32 * count)()
    with dctx(r) as context:
        reply["blocks"] = LIB.blosc2_vldecompress_ctx(context, chunk, len(chunk), dests, lens, count)
    blocks = [taken(dest, n) for dest, n in zip(dests, lens)] if reply["blocks"] >= 0 else []
    reply["alone"] = []
    for nblock in range(count):
        dest, n = ctypes.c_void_p(), ctypes.c_int32()
        with dctx(r) as context:
            code = LIB.blosc2_vldecompress_block_ctx(
                context, chunk, len(chunk), nblock, ctypes.byref(dest), ctypes.byref(n)
            )
        reply["alone"].append(code)
        blocks.append(taken(dest.value, n.value) if code >= 0 else b"")
    return reply, whole.raw[:nbytes], *blocks


def taken(address, nbytes):
    """The bytes that C allocated."""
    content = ctypes.string_at(address, nbytes)
    LIBC.free(address)
    return content


# Chunks with short headers ------------------------------------------------------------------------------


@op
def c_compat_write(r, data):
    """A chunk with a header of 16 bytes, as C-Blosc2 writes it for readers of Blosc 1 (which do not take it)."""
    room = len(data) + OVERHEAD
    dest = buffer(room)
    LIB.blosc1_set_compressor(r["cname"].encode())
    LIB.blosc1_set_blocksize(ctypes.c_size_t(r["blocksize"]))
    LIB.blosc2_set_delta(int(r["delta"]))
    os.environ["BLOSC_BLOSC1_COMPAT"] = "1"
    try:
        code = LIB.blosc2_compress(r["clevel"], r["shuffle"], r["typesize"], data, len(data), dest, room)
    finally:
        del os.environ["BLOSC_BLOSC1_COMPAT"]
    return {"code": code}, filled(dest, code)
