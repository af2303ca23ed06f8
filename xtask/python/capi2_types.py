"""The functions of libblosc2 that need no super-chunk, with the types of its header."""

import ctypes as c

u8, i16, i32, i64, ptr, size, text = (
    c.c_uint8,
    c.c_int16,
    c.c_int32,
    c.c_int64,
    c.c_void_p,
    c.c_size_t,
    c.c_char_p,
)


class Preparams(c.Structure):
    _fields_ = [
        ("user_data", ptr),
        ("input", ptr),
        ("output", ptr),
        ("output_size", i32),
        ("output_typesize", i32),
        ("output_offset", i32),
        ("nchunk", i64),
        ("nblock", i32),
        ("tid", i32),
        ("ttmp", ptr),
        ("ttmp_nbytes", size),
        ("ctx", ptr),
        ("output_is_disposable", c.c_bool),
    ]


class Postparams(c.Structure):
    _fields_ = [
        ("user_data", ptr),
        ("input", ptr),
        ("output", ptr),
        ("size", i32),
        ("typesize", i32),
        ("offset", i32),
        ("nchunk", i64),
        ("nblock", i32),
        ("tid", i32),
        ("ttmp", ptr),
        ("ttmp_nbytes", size),
        ("ctx", ptr),
    ]


Prefilter = c.CFUNCTYPE(c.c_int, c.POINTER(Preparams))
Postfilter = c.CFUNCTYPE(c.c_int, c.POINTER(Postparams))


class Cparams(c.Structure):
    _fields_ = [
        ("compcode", u8),
        ("compcode_meta", u8),
        ("clevel", u8),
        ("use_dict", c.c_int),
        ("typesize", i32),
        ("nthreads", i16),
        ("blocksize", i32),
        ("splitmode", i32),
        ("schunk", ptr),
        ("filters", u8 * 6),
        ("filters_meta", u8 * 6),
        ("prefilter", Prefilter),
        ("preparams", c.POINTER(Preparams)),
        ("tuner_params", ptr),
        ("tuner_id", c.c_int),
        ("instr_codec", c.c_bool),
        ("codec_params", ptr),
        ("filter_params", ptr * 6),
    ]


class Dparams(c.Structure):
    _fields_ = [
        ("nthreads", i16),
        ("schunk", ptr),
        ("postfilter", Postfilter),
        ("postparams", c.POINTER(Postparams)),
        ("typesize", i32),
    ]


INT = c.c_int
FUNCTIONS = {
    "blosc1_compress": (INT, [INT, INT, size, size, ptr, ptr, size]),
    "blosc1_decompress": (INT, [ptr, ptr, size]),
    "blosc1_getitem": (INT, [ptr, INT, INT, ptr]),
    "blosc1_cbuffer_sizes": (None, [ptr, ptr, ptr, ptr]),
    "blosc1_cbuffer_validate": (INT, [ptr, size, ptr]),
    "blosc1_cbuffer_metainfo": (None, [ptr, ptr, ptr]),
    "blosc1_get_blocksize": (INT, []),
    "blosc1_set_blocksize": (None, [size]),
    "blosc1_get_compressor": (text, []),
    "blosc1_set_compressor": (INT, [text]),
    "blosc1_set_splitmode": (None, [INT]),
    "blosc2_init": (None, []),
    "blosc2_destroy": (None, []),
    "blosc2_free_resources": (INT, []),
    "blosc2_get_nthreads": (i16, []),
    "blosc2_set_nthreads": (i16, [i16]),
    "blosc2_compcode_to_compname": (INT, [INT, ptr]),
    "blosc2_compname_to_compcode": (INT, [text]),
    "blosc2_list_compressors": (text, []),
    "blosc2_get_version_string": (text, []),
    "blosc2_get_complib_info": (INT, [text, ptr, ptr]),
    "blosc2_cbuffer_versions": (None, [ptr, ptr, ptr]),
    "blosc2_cbuffer_complib": (text, [ptr]),
    "blosc2_compress": (INT, [INT, INT, i32, ptr, i32, ptr, i32]),
    "blosc2_decompress": (INT, [ptr, i32, ptr, i32]),
    "blosc2_getitem": (INT, [ptr, i32, INT, INT, ptr, i32]),
    "blosc2_cbuffer_sizes": (INT, [ptr, ptr, ptr, ptr]),
    "blosc2_set_delta": (None, [INT]),
    "blosc2_error_string": (text, [INT]),
    "blosc2_create_cctx": (ptr, [Cparams]),
    "blosc2_create_dctx": (ptr, [Dparams]),
    "blosc2_free_ctx": (None, [ptr]),
    "blosc2_ctx_get_cparams": (INT, [ptr, ptr]),
    "blosc2_ctx_get_dparams": (INT, [ptr, ptr]),
    "blosc2_set_maskout": (INT, [ptr, ptr, INT]),
    "blosc2_compress_ctx": (INT, [ptr, ptr, i32, ptr, i32]),
    "blosc2_decompress_ctx": (INT, [ptr, ptr, i32, ptr, i32]),
    "blosc2_getitem_ctx": (INT, [ptr, ptr, i32, INT, INT, ptr, i32]),
    "blosc2_getitem_bytes_ctx": (INT, [ptr, ptr, i32, i32, i32, ptr, i32]),
    "blosc2_chunk_zeros": (INT, [Cparams, i32, ptr, i32]),
    "blosc2_chunk_nans": (INT, [Cparams, i32, ptr, i32]),
    "blosc2_chunk_uninit": (INT, [Cparams, i32, ptr, i32]),
    "blosc2_chunk_repeatval": (INT, [Cparams, i32, ptr, i32, ptr]),
    "blosc2_vlcompress_ctx": (INT, [ptr, ptr, ptr, i32, ptr, i32]),
    "blosc2_vldecompress_ctx": (INT, [ptr, ptr, i32, ptr, ptr, i32]),
    "blosc2_vldecompress_block_ctx": (INT, [ptr, ptr, i32, i32, ptr, ptr]),
    "blosc2_vlchunk_get_nblocks": (INT, [ptr, i32, ptr]),
    "blosc2_get_blosc2_cparams_defaults": (Cparams, []),
    "blosc2_get_blosc2_dparams_defaults": (Dparams, []),
    "blosc2_shuffle": (i32, [i32, i32, ptr, ptr]),
    "blosc2_unshuffle": (i32, [i32, i32, ptr, ptr]),
    "blosc2_bitshuffle": (i32, [i32, i32, ptr, ptr]),
    "blosc2_bitunshuffle": (i32, [i32, i32, ptr, ptr]),
}


def load(path):
    library = c.CDLL(path)
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library
