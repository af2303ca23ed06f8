"""Super-chunks and arrays of libblosc2, with the types of its header."""

import ctypes as c

from capi2_types import Cparams, Dparams, i16, i32, i64, load, ptr, size, text, u8


class Storage(c.Structure):
    _fields_ = [
        ("contiguous", c.c_bool),
        ("urlpath", text),
        ("cparams", c.POINTER(Cparams)),
        ("dparams", c.POINTER(Dparams)),
        ("io", ptr),
    ]


class Metalayer(c.Structure):
    _fields_ = [("name", text), ("content", ptr), ("content_len", i32)]


class SChunk(c.Structure):
    _fields_ = [
        ("version", u8),
        ("compcode", u8),
        ("compcode_meta", u8),
        ("clevel", u8),
        ("splitmode", u8),
        ("typesize", i32),
        ("blocksize", i32),
        ("chunksize", i32),
        ("flags2", u8),
        ("use_dict", u8),
        ("filters", u8 * 6),
        ("filters_meta", u8 * 6),
        ("nchunks", i64),
        ("current_nchunk", i64),
        ("nbytes", i64),
        ("cbytes", i64),
        ("data", ptr),
        ("data_len", size),
        ("storage", c.POINTER(Storage)),
        ("frame", ptr),
        ("cctx", ptr),
        ("dctx", ptr),
        ("metalayers", c.POINTER(Metalayer) * 16),
        ("nmetalayers", c.c_uint16),
        ("vlmetalayers", c.POINTER(Metalayer) * 8192),
        ("nvlmetalayers", i16),
        ("tuner_params", ptr),
        ("tuner_id", c.c_int),
        ("ndim", c.c_int8),
        ("blockshape", ptr),
        ("view", c.c_bool),
        ("change_tick", c.c_uint64),
    ]


class Array(c.Structure):
    _fields_ = [
        ("sc", c.POINTER(SChunk)),
        ("shape", i64 * 16),
        ("chunkshape", i32 * 16),
        ("extshape", i64 * 16),
        ("blockshape", i32 * 16),
        ("extchunkshape", i64 * 16),
        ("nitems", i64),
        ("chunknitems", i32),
        ("extnitems", i64),
        ("blocknitems", i32),
        ("extchunknitems", i64),
        ("ndim", c.c_int8),
        ("cache_data", ptr),
        ("cache_nchunk", i64),
        ("item_array_strides", i64 * 16),
        ("item_chunk_strides", i64 * 16),
        ("item_extchunk_strides", i64 * 16),
        ("item_block_strides", i64 * 16),
        ("block_chunk_strides", i64 * 16),
        ("chunk_array_strides", i64 * 16),
        ("dtype", text),
        ("dtype_format", c.c_int8),
        ("last_tick", i64),
    ]


# Fields that are numbers and have to be equal; `cbytes` depends on the encoder.
ROWS_OF_FIELDS = (
    "version compcode compcode_meta clevel splitmode typesize blocksize chunksize flags2 use_dict "
    "nchunks current_nchunk nbytes nmetalayers nvlmetalayers tuner_id view"
).split()
INT, BOOLS, PLACES = c.c_int, c.POINTER(c.c_bool), c.POINTER(ptr)
SCHUNK, ARRAY, ARRAYS = c.POINTER(SChunk), c.POINTER(Array), c.POINTER(c.POINTER(Array))
BOX = [ptr, ptr, ptr, ptr, ptr, ptr, ptr]
FUNCTIONS = {
    "blosc2_schunk_new": (SCHUNK, [c.POINTER(Storage)]),
    "blosc2_schunk_free": (INT, [SCHUNK]),
    "blosc2_schunk_append_buffer": (i64, [SCHUNK, ptr, i32]),
    "blosc2_schunk_from_buffer": (SCHUNK, [ptr, i64, c.c_bool]),
    "blosc2_schunk_avoid_cframe_free": (None, [SCHUNK, c.c_bool]),
    "blosc2_schunk_to_buffer": (i64, [SCHUNK, PLACES, BOOLS]),
    "blosc2_schunk_get_lazychunk": (INT, [SCHUNK, i64, PLACES, BOOLS]),
    "blosc2_schunk_open_offset": (SCHUNK, [text, i64]),
    "blosc2_unidim_to_multidim": (None, [u8, ptr, i64, ptr]),
    "blosc2_multidim_to_unidim": (None, [ptr, c.c_int8, ptr, ptr]),
    "b2nd_create_ctx": (
        ptr,
        [c.POINTER(Storage), c.c_int8, ptr, ptr, ptr, text, c.c_int8, c.POINTER(Metalayer), i32],
    ),
    "b2nd_free_ctx": (INT, [ptr]),
    "b2nd_free": (INT, [ARRAY]),
    "b2nd_from_schunk": (INT, [SCHUNK, ARRAYS]),
    "b2nd_from_cbuffer": (INT, [ptr, ARRAYS, ptr, i64]),
    "b2nd_get_slice_cbuffer": (INT, [ARRAY, ptr, ptr, ptr, ptr, i64]),
    "b2nd_to_cframe": (INT, [ARRAY, PLACES, c.POINTER(i64), BOOLS]),
    "b2nd_open_offset": (INT, [text, ARRAYS, i64]),
    "b2nd_copy_buffer": (INT, [c.c_int8, u8, *BOX]),
}


def load_all(path):
    library = load(path)
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library
