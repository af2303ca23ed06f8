"""Sequences of calls of two libblosc2 with the same arguments, wrong ones included.

    capi2_random.py ORIGINAL OURS --seed N --cases N [--case N]

Each sequence runs in a child of a process that has one library, so that a crash is a result.
Codes, data, header fields and public fields must be equal. Meant differences are the rows of
DIFFERENCES, which docs/capi.md explains.
"""

import argparse
import base64
import collections
import ctypes as c
import json
import os
import random
import signal
import struct
import subprocess
import sys
import zlib

import capi2_types as t

ROOM = 300_000
# Rows that end a sequence.
STOPS = {"another state", "nothing appended"}
CODECS = [0, 1, 2, 4, 5]
libc = c.CDLL(None)


def is_error(result):
    return isinstance(result, list) and isinstance(result[0], int) and result[0] < 0


def has_other_blocks(chunk):
    """Whether blocks end inside of items or are longer than the data: then they have another size
    than the header says."""
    nbytes, blocksize = struct.unpack_from("<ii", chunk, 4)
    return blocksize % max(1, chunk[3]) > 0 or blocksize > nbytes


def is_compress(f):
    return f in ("compress", "compress2", "compress1", "vlcompress")


# Differences that are meant, by the names of their rows in docs/capi.md. Each is told of a call: its name, its
# arguments, and what both libraries returned.
DIFFERENCES = {
    "crash": lambda f, a, theirs, ours: theirs == "crash" and ours != "crash",
    "wrong arguments": lambda f, a, theirs, ours: a.get("wrong") and is_error(ours),
    "payload": lambda f, a, theirs, ours: is_compress(f) and is_payload(a, theirs, ours),
    "damage": lambda f, a, theirs, ours: a.get("damaged")
    and is_error(theirs)
    and is_error(ours),
    "blocks in a damaged header": lambda f, a, theirs, ours: f == "header"
    and a["damaged"]
    and (theirs[0] < 0 or theirs[3:] == ours[3:])
    or a.get("damaged") == "header"
    and min(theirs[0], ours[0]) >= 0
    and has_other_blocks(base64.b64decode(a["chunk"])),
    "damage is an error": lambda f, a, theirs, ours: a.get("damaged") and is_error(ours),
    "damage not seen": lambda f, a, theirs, ours: a.get("damaged") and is_error(theirs),
    "unset data": lambda f, a, theirs, ours: a.get("unset") and theirs[0] == ours[0],
    "fields after an error": lambda f, a, theirs, ours: f == "get_cparams"
    and a.get("failed")
    and theirs[0] == ours[0],
    "delta made": lambda f, a, theirs, ours: is_compress(f)
    and a.get("hook")
    and 3 in a["params"]["filters"],
    "data that C-Blosc2 loses": lambda f, a, theirs, ours: is_compress(f)
    and theirs[1]
    and not theirs[2]
    and ours[2],
    "less than an item": lambda f, a, theirs, ours: is_compress(f)
    and is_short(theirs, ours)
    and theirs[0] == ours[0],
    "block size not of whole items": lambda f, a, theirs, ours: is_compress(f)
    and is_cut_blocksize(theirs, ours),
    "parameters of a reader": lambda f, a, theirs, ours: f == "get_cparams"
    and a["wrong"]
    and theirs[0] == ours[0],
    "block size after an error": lambda f, a, theirs, ours: a.get("failed")
    and (
        is_compress(f)
        and theirs[2]
        and ours[2]
        or f == "set"
        and theirs[0] == ours[0]
        and theirs[1][1:] == ours[1][1:]
    ),
    # A call that does not fit returns the code of an earlier error.
    "code after an error": lambda f, a, theirs, ours: is_compress(f)
    and a["after error"]
    and is_error(theirs)
    and ours[0] == 0,
    "refused filters": lambda f, a, theirs, ours: is_compress(f)
    and a["params"]["filters"].count(3) > 1
    and ours[0] == -18,
    # Reading an item with a context that compresses changes its parameters.
    "compressor that read": lambda f, a, theirs, ours: a.get("read")
    and (is_compress(f) or f == "get_cparams")
    and (ours[0] >= 0 or theirs[0] < 0),
    "zeros of cut items": lambda f, a, theirs, ours: is_compress(f)
    and is_cut_zeros(theirs, ours)
    or f == "run"
    and theirs[0] == 32
    and ours[0] == -3
    and a["nbytes"] % max(1, int(theirs[1][6:8], 16)) > 0,
    "mask of items": lambda f, a, theirs, ours: a.get("masked")
    and f in ("getitem", "getbytes", "vldecompress", "vlblock"),
    # It decodes blocks with another reference, if a part is read or a postfilter runs.
    "delta in parts": lambda f, a, theirs, ours: has_delta(a) and theirs[0] == ours[0],
    "wide items": lambda f, a, theirs, ours: f in ("compress", "get_cparams")
    and a["params"]["typesize"] > 255
    and (theirs[2] and ours[2] if f == "compress" else theirs[1][:5] == ours[1][:5]),
    "unknown compressor": lambda f, a, theirs, ours: f == "set"
    and theirs[0] == ours[0]
    and theirs[1][1] is None
    or is_compress(f)
    and (theirs[0] == -7 or theirs[1] and theirs[1][22] == 255),
    "block size of blocks": lambda f, a, theirs, ours: a.get("vl")
    and (
        f == "get_cparams"
        and theirs[1][:5] == ours[1][:5]
        or f == "compress"
        and theirs[2]
        and ours[2]
    ),
    "version": lambda f, a, theirs, ours: f == "info" and theirs[0] == ours[0],
}


def is_payload(a, theirs, ours):
    """One of the two found no room, or stored a copy."""
    (code1, head1, back1), (code2, head2, back2) = theirs, ours
    if not (back1 and back2) or code1 < 0 or code2 < 0:
        return False
    if code1 == 0 or code2 == 0:
        return a["destsize"] < a["nbytes"] + 32
    return head1[3:31] == head2[3:31] and is_stored(head1) != is_stored(head2)


def is_cut_zeros(theirs, ours):
    """Readers before 3.1.5 refuse the short form."""
    (_, head1, back1), (_, head2, back2) = theirs, ours
    is_same = head1 and head2 and head1[:31] == head2[:31] and back1 and back2
    nbytes = int.from_bytes(bytes(head1[4:8]), "little") if is_same else 0
    return bool(is_same and nbytes % head1[3] and head1[31] ^ head2[31] == 0x10)


def is_cut_blocksize(theirs, ours):
    """C-Blosc2 writes the size that was given, and works with the one that is rounded down."""
    (_, head1, back1), (_, head2, back2) = theirs, ours
    if not (head1 and head2 and back2):
        return False
    sizes = [int.from_bytes(bytes(head[8:12]), "little") for head in (head1, head2)]
    is_same = head1[3:8] == head2[3:8] and head1[16:31] == head2[16:31]
    return is_same and sizes[0] % head1[3] != 0 and sizes[1] == sizes[0] - sizes[0] % head1[3]


def is_short(theirs, ours):
    """Such chunks are copies, whose block size means nothing."""
    (_, head1, back1), (_, head2, back2) = theirs, ours
    if not (head1 and head2 and back1 and back2):
        return False
    return int.from_bytes(bytes(head1[4:8]), "little") < head1[3] and is_stored(head2)


def has_delta(a):
    chunk = base64.b64decode(a.get("chunk", ""))
    return len(chunk) > 31 and 3 in chunk[16:22]


def is_stored(head):
    return bool(head[2] & 2)


def make_data(r):
    n = r.choice([0, 1, 3, 15, 31, 32, 33, 127, 500, 4096, 5000, 16384, 40000, 131072, 200001])
    kind = r.randrange(4)
    if kind == 0:
        return bytes(n)
    if kind == 1:
        return r.randbytes(n)
    if kind == 2:
        return b"".join((i * 7).to_bytes(4, "little") for i in range(n // 4 + 1))[:n]
    word = r.randbytes(r.choice([1, 4, 8, 100, 1000]))
    return (word * (n // len(word) + 1))[:n]


def make_params(r):
    wrong = r.randrange(12) == 0
    filters = [0] * 6
    for slot in r.sample(range(6), r.choice([0, 1, 1, 1, 2])):
        filters[slot] = r.choice([1, 1, 1, 2, 3])
    params = {
        "compcode": r.choice(CODECS),
        "clevel": r.randrange(10),
        "use_dict": 0,
        "typesize": r.choice([1, 2, 4, 4, 8, 8, 3, 7, 16, 17, 31, 255, 256, 1000]),
        "nthreads": r.choice([1, 1, 1, 2, 3, 0]),
        "blocksize": r.choice([0, 0, 0, 4096, 65536, 99968]),
        "splitmode": r.choice([1, 2, 3, 4, 4, 4, 0, 5]),
        "filters": filters,
    }
    if params["splitmode"] == 1 and params["typesize"] > 16:
        params["splitmode"] = 4
    if params["blocksize"]:
        # A size that is not whole items is stored as it is, and used rounded down.
        width = params["typesize"] if params["typesize"] < 256 else 1
        params["blocksize"] -= params["blocksize"] % width
    if wrong:
        name, values = r.choice(
            [
                ("compcode", [3, 6, 31, 41, 160, 255]),
                ("clevel", [10, 255]),
                ("typesize", [0, -1, 1 << 30]),
                ("blocksize", [-1]),
                ("filters", [[0, 0, 0, 0, 0, 160], [5] * 6, [0, 0, 0, 0, 40, 1]]),
                ("tuner_id", [32, 255]),
            ]
        )
        params[name] = r.choice(values)
    return params, wrong


def make_chunk(r, pool):
    """A chunk, whether it is damaged and where, and whether its data were never set."""
    chunk = pool[r.randrange(len(pool))]
    unset = len(chunk) > 31 and chunk[31] & 0x70 == 0x40
    kind = r.randrange(8)
    if kind > 1:
        return chunk, "", unset
    changed = bytearray(chunk)
    if kind == 0:
        changed[r.randrange(32)] = r.choice([0, 1, 2, 4, 5, 16, 127, 128, 255, r.randrange(256)])
    elif len(chunk) > 32:
        changed[r.randrange(32, len(chunk))] = r.randrange(256)
    damaged = "" if bytes(changed) == chunk else "header" if kind == 0 else "body"
    if struct.unpack_from("<i", changed, 4)[0] > ROOM:
        return chunk, "", unset
    return bytes(changed), damaged, unset


def text(data):
    return base64.b64encode(data).decode()


def make_calls(r, pool):
    """The calls of a sequence: a name and arguments each."""
    contexts, calls = [], []
    for _ in range(r.randrange(1, 12)):
        name = r.choice(NAMES)
        if name in ("cctx", "dctx"):
            params, wrong = make_params(r)
            hook = r.randrange(4) == 0 and r.randrange(1, 4)
            a = {"params": params, "wrong": wrong, "hook": hook, "kind": name}
            if hook:
                params["nthreads"] = 1
            contexts.append(a)
            calls.append((name, a))
            continue
        ncontext = r.randrange(len(contexts)) if contexts else None
        a = ARGUMENTS[name](r, pool)
        if name in WITH_CONTEXT:
            if ncontext is None:
                continue
            made = contexts[ncontext]
            a = {**a, "ctx": ncontext, "params": made["params"], "hook": made["hook"]}
            a["wrong"] = a.get("wrong") or made["wrong"] or made["kind"] not in WITH_CONTEXT[name]
            a["read"] = made.get("read")
            a["masked"] = made.get("masked")
            made["masked"] = name == "mask" or a["masked"] and name != "decompress"
            if name in ("getitem", "getbytes"):
                made["read"] = True
            a["vl"] = made.get("vl")
            made["vl"] = name == "vlcompress" or a["vl"]
        calls.append((name, a))
    return calls


def compress_arguments(r, pool):
    data = make_data(r)
    wrong = r.randrange(25) == 0 and r.choice(["null", "negative", "dest"])
    destsize = r.choice([len(data) + 32] * 6 + [r.randrange(64), len(data) // 2 + 32])
    return {"data": text(data), "nbytes": len(data), "destsize": destsize, "wrong": wrong}


def direct_arguments(r, pool):
    a = compress_arguments(r, pool)
    a["params"], wrong = make_params(r)
    a["params"]["filters"] = [0] * 6
    a["wrong"] = a["wrong"] or wrong
    a["shuffle"] = r.choice([0, 1, 1, 2])
    return a


def chunk_arguments(r, pool):
    chunk, damaged, unset = make_chunk(r, pool)
    nbytes = max(0, struct.unpack_from("<i", chunk, 4)[0])
    a = {"chunk": text(chunk), "damaged": damaged, "unset": unset}
    a["srcsize"] = r.choice([len(chunk)] * 8 + [len(chunk) - 1, 31, 16, 0, -1])
    a["destsize"] = r.choice([nbytes] * 8 + [nbytes + 5, nbytes - 1, 0, -1])
    typesize = max(1, chunk[3])
    nitems = nbytes // typesize
    start = r.randrange(nitems + 1)
    a["start"] = r.choice([start] * 6 + [-1, nitems, nitems + 1, 1 << 30])
    a["n"] = r.choice([r.randrange(nitems - start + 1)] * 6 + [0, -1, nitems + 1, 1 << 30])
    a["nblock"] = r.choice([0, 1, 2, 3, -1, 1000])
    if a["srcsize"] < len(chunk):
        a["damaged"] = a["damaged"] or "cut"
    return a


def run_arguments(r, pool):
    params, wrong = make_params(r)
    typesize = params["typesize"]
    nbytes = typesize * r.choice([0, 1, 5, 1000, 10_000]) if 0 < typesize < 5000 else 800
    nbytes = r.choice([nbytes] * 6 + [nbytes + 1, -8])
    destsize = r.choice([32 + typesize] * 6 + [32, 31, 0, -1])
    a = {"params": params, "nbytes": nbytes, "destsize": min(destsize, 3000)}
    return {**a, "wrong": wrong or nbytes < 0, "which": r.randrange(4)}


def filter_arguments(r, pool):
    data = r.randbytes(r.choice([0, 1, 7, 32, 64, 1000, 4096]))
    typesize = r.choice([1, 2, 4, 8, 3, 16, 17, 255, 256, 0, -1])
    wrong = typesize < 1
    return {"data": text(data), "typesize": typesize, "wrong": wrong, "which": r.randrange(4)}


def vl_arguments(r, pool):
    blocks = [make_data(r)[: r.randrange(3000)] for _ in range(r.randrange(6))]
    if r.randrange(8):
        blocks = [block for block in blocks if block]
    nbytes = sum(map(len, blocks)) + 8 * len(blocks)
    destsize = r.choice([nbytes + 40_000] * 6 + [31, 0])
    a = {"blocks": [text(block) for block in blocks], "nbytes": nbytes, "destsize": destsize}
    return {**a, "wrong": not blocks or not all(blocks)}


def number_arguments(r, pool):
    return {"n": r.choice([-1, 0, 1, 2, 3, 4, 5, 6, 31, 32, 35, 40, 41, 160, 1000, -12, -35])}


def name_arguments(r, pool):
    names = ["blosclz", "lz4", "lz4hc", "zlib", "zstd", "snappy", "ndlz", "zfp_acc", "", "LZ4"]
    return {"name": r.choice(names)}


VARIABLES = {
    "BLOSC_CLEVEL": ["0", "5", "9"],
    "BLOSC_SHUFFLE": ["NOSHUFFLE", "SHUFFLE", "BITSHUFFLE"],
    "BLOSC_TYPESIZE": ["1", "4", "8"],
    "BLOSC_COMPRESSOR": ["lz4", "zstd", "blosclz"],
    "BLOSC_BLOCKSIZE": ["0", "4096"],
    "BLOSC_NTHREADS": ["1", "2"],
    "BLOSC_SPLITMODE": ["ALWAYS", "NEVER", "AUTO", "FORWARD_COMPAT"],
}


def variable_arguments(r, pool):
    name = r.choice(list(VARIABLES))
    return {"name": name, "value": r.choice(VARIABLES[name] + [None])}


ARGUMENTS = {
    "compress": compress_arguments,
    "compress1": direct_arguments,
    "compress2": direct_arguments,
    "vlcompress": vl_arguments,
    "decompress": chunk_arguments,
    "decompress1": chunk_arguments,
    "decompress2": chunk_arguments,
    "getitem": chunk_arguments,
    "getbytes": chunk_arguments,
    "getitem1": chunk_arguments,
    "getitem2": chunk_arguments,
    "vldecompress": chunk_arguments,
    "vlblock": chunk_arguments,
    "vlnblocks": chunk_arguments,
    "header": chunk_arguments,
    "mask": lambda r, pool: {"mask": [r.randrange(2) for _ in range(r.randrange(1, 7))]},
    "get_cparams": lambda r, pool: {},
    "get_dparams": lambda r, pool: {},
    "run": run_arguments,
    "filter": filter_arguments,
    "number": number_arguments,
    "info": name_arguments,
    "set": lambda r, pool: {"which": r.randrange(5), "n": r.choice([0, 1, 2, 3, 4, 4096])},
    "variable": variable_arguments,
    "end": lambda r, pool: {},
}
WITH_CONTEXT = {
    "compress": ["cctx"],
    "vlcompress": ["cctx"],
    "decompress": ["dctx"],
    "vldecompress": ["dctx"],
    "vlblock": ["dctx"],
    "getitem": ["cctx", "dctx"],
    "getbytes": ["cctx", "dctx"],
    "mask": ["cctx", "dctx"],
    "get_cparams": ["cctx"],
    "get_dparams": ["dctx"],
}
NAMES = ["cctx"] * 4 + ["dctx"] * 4 + list(ARGUMENTS) + ["compress", "decompress", "getitem"] * 3


class Runner:
    """One library, and the state of a sequence."""

    def __init__(self, path):
        self.l = t.load(path)
        self.contexts, self.kept = [], []
        self.dest = (c.c_uint8 * (ROOM + 64))()

    def clear(self, n=ROOM):
        c.memset(self.dest, 0xAA, n)

    def cparams(self, params, hook=0):
        p = self.l.blosc2_get_blosc2_cparams_defaults()
        for name, value in params.items():
            setattr(p, name, (c.c_uint8 * 6)(*value) if name == "filters" else value)
        if hook:
            function = t.Prefilter(lambda p: invert(p[0].input, p[0].output, p[0].output_size, hook))
            given = t.Preparams()
            self.kept += [function, given]
            p.prefilter, p.preparams = function, c.pointer(given)
        return p

    def cctx(self, a):
        context = self.l.blosc2_create_cctx(self.cparams(a["params"], a["hook"]))
        self.contexts.append(context)
        return [int(bool(context))]

    def dctx(self, a):
        p = self.l.blosc2_get_blosc2_dparams_defaults()
        p.nthreads = a["params"]["nthreads"]
        if a["hook"]:
            function = t.Postfilter(lambda p: invert(p[0].input, p[0].output, p[0].size, a["hook"]))
            given = t.Postparams()
            self.kept += [function, given]
            p.postfilter, p.postparams = function, c.pointer(given)
        self.contexts.append(self.l.blosc2_create_dctx(p))
        return [1]

    def made(self, code, data):
        """A code, the header without the size, and whether the data come back."""
        if code <= 0:
            return [code, None, True]
        chunk = bytes(self.dest[:code])
        decompressor = self.l.blosc2_create_dctx(self.l.blosc2_get_blosc2_dparams_defaults())
        back = (c.c_uint8 * (len(data) + 1))()
        n = self.l.blosc2_decompress_ctx(decompressor, chunk, code, back, len(data))
        self.l.blosc2_free_ctx(decompressor)
        is_back = n == len(data) and bytes(back[: len(data)]) == data
        head = list(chunk[:12]) + [0] * 4 + list(chunk[16:32])
        return [code if head[31] & 0x70 else 1, head, is_back]

    def arguments(self, a):
        data = base64.b64decode(a["data"])
        src, n = (None if a["wrong"] == "null" else data), len(data)
        n = -5 if a["wrong"] == "negative" else n
        return data, src, n, None if a["wrong"] == "dest" else self.dest

    def compress(self, a):
        data, src, n, dest = self.arguments(a)
        context = self.contexts[a["ctx"]]
        code = self.l.blosc2_compress_ctx(context, src, n, dest, a["destsize"])
        return self.made(code, bytes(255 - b for b in data) if a["hook"] else data)

    def compress2(self, a):
        data, src, n, dest = self.arguments(a)
        p = a["params"]
        level, typesize = c.c_int8(p["clevel"]).value if p["clevel"] > 9 else p["clevel"], p["typesize"]
        code = self.l.blosc2_compress(level, a["shuffle"], typesize, src, n, dest, a["destsize"])
        return self.made(code, data)

    def compress1(self, a):
        data, src, n, dest = self.arguments(a)
        p = a["params"]
        typesize = p["typesize"] % 2**64
        code = self.l.blosc1_compress(
            p["clevel"], a["shuffle"], typesize, max(n, 0), src, dest, a["destsize"]
        )
        return self.made(code, data)

    def vlcompress(self, a):
        blocks = [base64.b64decode(block) for block in a["blocks"]]
        buffers = [c.create_string_buffer(block, len(block) + 1) for block in blocks]
        srcs = (c.c_void_p * max(1, len(blocks)))(*[c.addressof(b) for b in buffers])
        sizes = (c.c_int32 * max(1, len(blocks)))(*[len(block) for block in blocks])
        context = self.contexts[a["ctx"]]
        code = self.l.blosc2_vlcompress_ctx(
            context, srcs, sizes, len(blocks), self.dest, a["destsize"]
        )
        return self.made(code, b"".join(blocks))

    def got(self, code):
        n = max(0, min(code, ROOM))
        return [code, zlib.crc32(bytes(self.dest[:n])), self.dest[n]]

    def decompress(self, a):
        self.clear()
        chunk, context = base64.b64decode(a["chunk"]), self.contexts[a["ctx"]]
        f = self.l.blosc2_decompress_ctx
        return self.got(f(context, chunk, a["srcsize"], self.dest, a["destsize"]))

    def decompress2(self, a):
        self.clear()
        chunk = base64.b64decode(a["chunk"])
        return self.got(self.l.blosc2_decompress(chunk, a["srcsize"], self.dest, a["destsize"]))

    def decompress1(self, a):
        self.clear()
        chunk = base64.b64decode(a["chunk"])
        if struct.unpack_from("<i", chunk, 12)[0] > len(chunk):
            return [0]
        return self.got(self.l.blosc1_decompress(chunk, self.dest, max(0, a["destsize"])))

    def getitem(self, a):
        self.clear()
        chunk, context = base64.b64decode(a["chunk"]), self.contexts[a["ctx"]]
        f = self.l.blosc2_getitem_ctx
        n = min(ROOM, max(a["destsize"], -1))
        return self.got(f(context, chunk, a["srcsize"], a["start"], a["n"], self.dest, n))

    def getbytes(self, a):
        self.clear()
        chunk, context = base64.b64decode(a["chunk"]), self.contexts[a["ctx"]]
        f = self.l.blosc2_getitem_bytes_ctx
        start, n = [min(n * max(1, chunk[3]), 2**31 - 1) for n in (a["start"], a["n"])]
        return self.got(f(context, chunk, a["srcsize"], start, n, self.dest, a["destsize"]))

    def getitem2(self, a):
        self.clear()
        chunk, f = base64.b64decode(a["chunk"]), self.l.blosc2_getitem
        return self.got(f(chunk, a["srcsize"], a["start"], a["n"], self.dest, a["destsize"]))

    def getitem1(self, a):
        self.clear()
        chunk = base64.b64decode(a["chunk"])
        nbytes, _, cbytes = struct.unpack_from("<iii", chunk, 4)
        if cbytes > len(chunk) or a["n"] * chunk[3] > nbytes:
            return [0]
        return self.got(self.l.blosc1_getitem(chunk, a["start"], a["n"], self.dest))

    def vldecompress(self, a):
        chunk, context = base64.b64decode(a["chunk"]), self.contexts[a["ctx"]]
        dests, sizes = (c.c_void_p * 8)(), (c.c_int32 * 8)()
        f = self.l.blosc2_vldecompress_ctx
        code = f(context, chunk, a["srcsize"], dests, sizes, max(0, min(a["nblock"], 8)))
        return [code] + [[n, take(p, n)] for p, n in zip(dests[: max(code, 0)], sizes)]

    def vlblock(self, a):
        chunk, context = base64.b64decode(a["chunk"]), self.contexts[a["ctx"]]
        dest, n = c.c_void_p(), c.c_int32()
        f = self.l.blosc2_vldecompress_block_ctx
        code = f(context, chunk, a["srcsize"], a["nblock"], c.byref(dest), c.byref(n))
        return [code, n.value, take(dest.value, n.value) if code >= 0 else 0]

    def vlnblocks(self, a):
        n = c.c_int32(7)
        chunk = base64.b64decode(a["chunk"])
        return [self.l.blosc2_vlchunk_get_nblocks(chunk, a["srcsize"], c.byref(n)), n.value]

    def header(self, a):
        chunk = base64.b64decode(a["chunk"])
        i, s, more = (c.c_int32 * 3)(), (c.c_size_t * 4)(), (c.c_int * 3)()
        at = lambda x, n: c.addressof(x) + n * c.sizeof(x._type_)
        code = self.l.blosc2_cbuffer_sizes(chunk, at(i, 0), at(i, 1), at(i, 2))
        self.l.blosc1_cbuffer_sizes(chunk, at(s, 0), at(s, 1), at(s, 2))
        valid = self.l.blosc1_cbuffer_validate(chunk, max(a["srcsize"], 0), at(s, 3))
        size = c.c_size_t()
        self.l.blosc1_cbuffer_metainfo(chunk, c.byref(size), at(more, 0))
        self.l.blosc2_cbuffer_versions(chunk, at(more, 1), at(more, 2))
        library = self.l.blosc2_cbuffer_complib(chunk)
        known = library.decode() if library else None
        return [code, list(i), list(s), valid, size.value, list(more), known]

    def mask(self, a):
        mask = (c.c_bool * len(a["mask"]))(*a["mask"])
        return [self.l.blosc2_set_maskout(self.contexts[a["ctx"]], mask, len(mask))]

    def get_cparams(self, a):
        p = t.Cparams()
        code = self.l.blosc2_ctx_get_cparams(self.contexts[a["ctx"]], c.byref(p))
        names = "compcode clevel use_dict typesize nthreads blocksize splitmode tuner_id".split()
        return [code, [getattr(p, name) for name in names], list(p.filters)]

    def get_dparams(self, a):
        p = t.Dparams()
        code = self.l.blosc2_ctx_get_dparams(self.contexts[a["ctx"]], c.byref(p))
        return [code, p.nthreads, bool(p.postfilter)]

    def run(self, a):
        self.clear(4000)
        name = ["zeros", "nans", "uninit", "repeatval"][a["which"]]
        value = [bytes(i % 256 for i in range(3000))] if a["which"] == 3 else []
        f = getattr(self.l, "blosc2_chunk_" + name)
        code = f(self.cparams(a["params"]), a["nbytes"], self.dest, a["destsize"], *value)
        return [code, bytes(self.dest[: max(code, 0)]).hex()]

    def filter(self, a):
        self.clear(5000)
        name = ["shuffle", "unshuffle", "bitshuffle", "bitunshuffle"][a["which"]]
        data = base64.b64decode(a["data"])
        code = getattr(self.l, "blosc2_" + name)(a["typesize"], len(data), data, self.dest)
        return self.got(code)

    def number(self, a):
        name = c.c_char_p()
        code = self.l.blosc2_compcode_to_compname(a["n"], c.byref(name))
        error = self.l.blosc2_error_string(a["n"]).decode()
        return [code, name.value and name.value.decode(), error]

    def info(self, a):
        name, places = a["name"].encode(), (c.c_void_p * 2)()
        at = c.addressof(places)
        code = self.l.blosc2_compname_to_compcode(name)
        format = self.l.blosc2_get_complib_info(name, at, at + 8)
        texts = [c.string_at(p).decode() if p else None for p in places]
        return [[code, format, texts[0]], texts[1]]

    def set(self, a):
        l, n = self.l, a["n"]
        names = [b"blosclz", b"lz4", b"zstd", b"snappy", b"zlib"]
        done = [
            lambda: l.blosc1_set_compressor(names[n % 5]),
            lambda: l.blosc1_set_blocksize(n - n % 1000 % 8),
            lambda: l.blosc1_set_splitmode(n % 5),
            lambda: l.blosc2_set_delta(n % 2),
            lambda: l.blosc2_set_nthreads(n % 4),
        ][a["which"]]()
        name = l.blosc1_get_compressor()
        now = [l.blosc1_get_blocksize(), name and name.decode(), l.blosc2_get_nthreads()]
        texts = [l.blosc2_list_compressors().decode(), l.blosc2_get_version_string().decode()]
        return [done, now, texts]

    def variable(self, a):
        name, value = a["name"].encode(), a["value"]
        libc.unsetenv(name) if value is None else libc.setenv(name, value.encode(), 1)
        return [0]

    def end(self, a):
        self.l.blosc2_destroy()
        self.l.blosc2_init()
        return [self.l.blosc2_free_resources()]


def invert(source, dest, n, hook):
    c.memmove(dest, bytes(255 - b for b in c.string_at(source, n)), n)
    return 0


def take(place, n):
    data = c.string_at(place, n)
    libc.free(c.c_void_p(place))
    return zlib.crc32(data)


def serve(path, kind):
    """Runs sequences from standard input, each in a child."""
    runner = kind(path)
    runner.l.blosc2_init()
    for line in sys.stdin:
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            # A call that never returns is a crash as well.
            signal.alarm(20)
            out = os.fdopen(writer, "w")
            for name, a in json.loads(line):
                out.write(json.dumps(getattr(runner, name)(a)) + "\n")
                out.flush()
            os._exit(0)
        os.close(writer)
        results = [json.loads(result) for result in os.fdopen(reader)]
        _, status = os.waitpid(pid, 0)
        print(json.dumps(results + (["crash"] if status else [])), flush=True)


def make_pool(original):
    r, runner, pool = random.Random(7), Runner(original), []
    while len(pool) < 150:
        params, wrong = make_params(r)
        if wrong or params["filters"].count(3) > 1:
            continue
        context = runner.l.blosc2_create_cctx(runner.cparams(params))
        data = make_data(r)
        if r.randrange(6) == 0 and params["clevel"]:
            data = data[:4000]
            a = {"blocks": [text(data[i : i + 999]) for i in range(0, len(data), 999)]}
            runner.contexts = [context]
            runner.vlcompress({**a, "ctx": 0, "destsize": ROOM}) if data else None
        else:
            runner.l.blosc2_compress_ctx(context, data, len(data), runner.dest, ROOM)
        n = struct.unpack_from("<i", bytes(runner.dest[:16]), 12)[0]
        chunk, back = bytes(runner.dest[:n]), (c.c_uint8 * ROOM)()
        # Some of its own chunks C-Blosc2 cannot read.
        nbytes = runner.l.blosc2_decompress(chunk, n, back, ROOM) if n > 31 else -1
        if nbytes == len(data) and bytes(back[:nbytes]) == data:
            pool.append(chunk)
    for which in range(4):
        for typesize in (4, 8):
            code, chunk = runner.run(
                {"params": {"typesize": typesize, "blocksize": 4096}, "nbytes": 8000}
                | {"which": which, "destsize": 100}
            )
            pool.append(bytes.fromhex(chunk))
    return pool


def start(script, path, errors=None):
    command = [sys.executable, script, "--serve", path]
    return subprocess.Popen(command, stdin=-1, stdout=-1, stderr=errors, text=True)


def check(differences, name, a, theirs, ours):
    """The row of a difference, "" if there is none; None if it is not meant."""
    if theirs == ours:
        return ""
    for row, is_meant in differences.items():
        if is_meant(name, a, theirs, ours):
            return row
    return None


def compare(script, kind, make_pool, make_calls, differences):
    """Has two libraries run the sequences that `make_calls` makes; `kind` is the class that runs
    them, in processes of `script`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("original")
    parser.add_argument("ours", nargs="?")
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--case", type=int)
    args = parser.parse_args()
    if args.serve:
        return serve(args.original, kind)
    pool = make_pool(args.original)
    # Where C-Blosc2 crashes, or looks for a plugin, it says much.
    quiet = start(script, args.original, subprocess.DEVNULL)
    servers = [quiet, start(script, args.ours)]
    ncalls, rows, nfailed = 0, collections.Counter(), 0
    for case in range(args.cases) if args.case is None else [args.case]:
        calls = make_calls(random.Random(f"{args.seed} {case}"), pool)
        for server in servers:
            server.stdin.write(json.dumps(calls) + "\n")
            server.stdin.flush()
        theirs, ours = [json.loads(server.stdout.readline()) for server in servers]
        failed = set()
        for n, (name, a) in enumerate(calls):
            ncalls += 1
            a["failed"] = a.get("ctx") in failed
            a["after error"] = any(map(is_error, theirs[:n]))
            results = [r[n] if n < len(r) else "crash" for r in (theirs, ours)]
            row = check(differences, name, a, *results)
            if row is None:
                nfailed += 1
                shown = {k: v if len(str(v)) < 200 else "..." for k, v in a.items()}
                print(f"--seed {args.seed} --case {case}, call {n}: {name} {shown}")
                print(f"    C-Blosc2 {str(results[0])[:300]}\n    ours     {str(results[1])[:300]}")
                sys.stdout.flush()
                break
            if is_compress(name) and (results[0][0] != 1 or results[1][0] != 1):
                failed.add(a.get("ctx"))
            rows[row] += bool(row)
            # After such a difference the two have different states.
            if "crash" in results or row in STOPS:
                break
        if nfailed >= 20:
            break
    print(f"{ncalls} calls; meant differences: {dict(rows)}; others: {nfailed}")
    return 1 if nfailed else 0


if __name__ == "__main__":
    sys.exit(compare(__file__, Runner, make_pool, make_calls, DIFFERENCES))
