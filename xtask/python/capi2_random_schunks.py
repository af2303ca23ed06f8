"""Sequences of calls for super-chunks and arrays of two libblosc2, wrong arguments included.

    capi2_random_schunks.py ORIGINAL OURS --seed N --cases N [--case N]

How sequences run and are compared is told in capi2_random.py.
"""

import ctypes as c
import sys
import tempfile
import zlib

import capi2_random as base
from capi2_random import is_error, make_data, make_params, text
from capi2_schunk_types import ARRAY, ROWS_OF_FIELDS, Array, Metalayer, Storage, load_all

ROOM = base.ROOM
SHAPES = [
    ((), (), ()),
    ((100,), (32,), (8,)),
    ((1000,), (1000,), (300,)),
    ((10, 12), (4, 5), (3, 2)),
    ((40, 50), (40, 50), (8, 50)),
    ((7, 5, 9), (3, 5, 4), (2, 2, 4)),
    ((0, 5), (2, 2), (1, 1)),
    ((2, 3, 4, 5), (2, 2, 2, 2), (1, 2, 1, 2)),
]
BAD_SHAPES = [
    ((-5,), (1,), (1,)),
    ((5,), (-2,), (1,)),
    ((5,), (2,), (0,)),
    ((1,) * 17, (1,) * 17, (1,) * 17),
]


# Differences that are meant, by the names of their rows in docs/capi.md.
DIFFERENCES = {
    "crash": lambda f, a, theirs, ours: theirs == "crash" and ours != "crash",
    "damage": lambda f, a, theirs, ours: a.get("damaged")
    and is_error(theirs)
    and is_error(ours),
    "damage is an error": lambda f, a, theirs, ours: a.get("damaged") and is_error(ours),
    "damage not seen": lambda f, a, theirs, ours: a.get("damaged") and is_error(theirs),
    "damaged data": lambda f, a, theirs, ours: a.get("damaged") and not is_error(ours),
    "wrong arguments": lambda f, a, theirs, ours: a.get("wrong") and is_error(ours),
    # After this the two have different super-chunks.
    "another state": lambda f, a, theirs, ours: f in MAKES_SCHUNK + MAKES_ARRAY + ["append"]
    and is_error(theirs),
    "current chunk": lambda f, a, theirs, ours: is_fields(f, theirs, ours, ["current_nchunk"]),
    "block size of a super-chunk": lambda f, a, theirs, ours: is_fields(
        f, theirs, ours, ["current_nchunk", "blocksize"]
    ),
    "data that C-Blosc2 loses": lambda f, a, theirs, ours: f in ("chunk", "items")
    and not is_error(ours)
    and (is_error(theirs) or f == "chunk" and theirs[2][0] < ours[2][0]),
    "zeros of cut items": lambda f, a, theirs, ours: f == "chunk"
    and theirs[1][0] == 0x10
    and theirs[2] == ours[2],
    "empty chunks": lambda f, a, theirs, ours: f == "frame" and ours[0] == -23,
    "wide items": lambda f, a, theirs, ours: f in ("fields", "frame", "array_frame")
    and a["wrong"]
    and theirs[0] == ours[0],
    "no items": lambda f, a, theirs, ours: f == "items" and a["count"] == 0 and ours[0] == 0,
    # More items than there is room for, and of data that C-Blosc2 loses: the one code or the other.
    "codes": lambda f, a, theirs, ours: f == "items" and is_error(theirs) and is_error(ours),
    "nothing appended": lambda f, a, theirs, ours: f == "append"
    and a["n"] == 0
    and is_error(ours),
    "frame": lambda f, a, theirs, ours: f in ("frame", "array_frame")
    and is_frame(theirs, ours),
    "outside": lambda f, a, theirs, ours: f == "part" and theirs[-1] and ours[-1],
    "no room": lambda f, a, theirs, ours: f == "part" and a["less"] and ours[0] == -12,
}


def is_fields(f, theirs, ours, names):
    """Whether fields differ in these alone."""
    if f != "fields" or is_error(theirs) or is_error(ours):
        return False
    rest = [
        [v for v, name in zip(fields[1], ROWS_OF_FIELDS) if name not in names]
        for fields in (theirs, ours)
    ]
    return rest[0] == rest[1] and theirs[2:] == ours[2:]


def is_frame(theirs, ours):
    """C-Blosc2 makes no frame, or one that it cannot read, or one with another chunk size: before
    the first chunk, and where chunks are no whole items. The block size is that of the last chunk
    there, and of the first here."""
    if is_error(theirs) or theirs[2] is None:
        return not is_error(ours) and ours[2] is not None
    if is_error(ours) or ours[2] is None:
        return False
    (theirs, chunk1), (ours, chunk2) = theirs[2], ours[2]
    place = ROWS_OF_FIELDS.index("chunksize")
    typesize, size = theirs[1][ROWS_OF_FIELDS.index("typesize")], theirs[1][place]
    is_odd = size < 0 or ours[1][place] < 0 or size % typesize
    differing = ["blocksize", "chunksize"] if is_odd else ["blocksize"]
    is_lost = len(chunk1) > 2 and len(chunk2) > 2 and chunk1[2][0] < chunk2[2][0]
    same_data = is_lost or chunk1[2:] == chunk2[2:]
    return is_fields("fields", theirs, ours, differing) and same_data


def make_storage(r):
    params, wrong = make_params(r)
    # Results of the encoders are compared in capi2_random.py.
    params["nthreads"] = r.choice([1, 1, 2])
    if not wrong:
        params["filters"] = [0, 0, 0, 0, 0, r.choice([0, 1, 2])]
        params["typesize"] = r.choice([1, 2, 4, 8, 3, 16])
        params["blocksize"] -= params["blocksize"] % params["typesize"]
        params["splitmode"] = r.choice([2, 3, 4])
    return {"params": params, "wrong": wrong, "contiguous": r.randrange(2) == 1}


def frame_arguments(r, pool):
    frame = pool[r.randrange(len(pool))]
    damaged = r.randrange(4) == 0
    changed = bytearray(frame)
    if damaged:
        for _ in range(r.choice([1, 1, 3])):
            at = r.choice([r.randrange(len(frame)), r.randrange(min(200, len(frame)))])
            changed[at] ^= r.choice([1, 2, 4, 0x80, 0xFF, r.randrange(1, 256)])
    damaged = damaged and bytes(changed) != frame
    return {
        "frame": text(changed),
        "damaged": damaged,
        "more": r.choice([0] * 10 + [-1, 1, -len(frame)]),
        "copy": r.randrange(2) == 1,
        "before": r.choice([0, 0, 1, 100]),
        "offset": r.choice([0] * 8 + [1, -1, 1 << 40]),
    }


def append_arguments(r, pool):
    data = make_data(r)[: r.choice([400, 4000, 40_000])]
    return {"data": text(data), "n": r.choice([len(data)] * 12 + [-1]), "null": r.randrange(30) == 0}


def array_arguments(r, pool):
    storage = make_storage(r)
    shape, chunks, blocks = r.choice(SHAPES)
    if r.randrange(15) == 0:
        shape, chunks, blocks = r.choice(BAD_SHAPES)
        storage["wrong"] = True
    dtype = r.choice([None, None, "<i4", "|u1"])
    more = r.choice([0] * 8 + [-1, 5])
    kind = r.randrange(3)
    return {**storage, "shape": [shape, chunks, blocks], "dtype": dtype, "more": more, "kind": kind}


def part_arguments(r, pool):
    n = 4
    start = [r.choice([0, 0, 1, 2, 5, 9, -1][: 6 + (r.randrange(8) == 0)]) for _ in range(n)]
    lens = [r.choice([0, 1, 2, 3, 5, 8, 40]) for _ in range(n)]
    room = [length + r.choice([0, 0, 0, 1, 3]) for length in lens]
    return {"start": start, "lens": lens, "room": room, "less": r.choice([0] * 9 + [1])}


def box_arguments(r, pool):
    ndim = r.choice([1, 2, 3])
    shape = [r.randrange(1, 7) for _ in range(ndim)]
    start = [r.randrange(n) for n in shape]
    stop = [r.randrange(first, n + 1) for first, n in zip(start, shape)]
    at = [r.randrange(3) for _ in range(ndim)]
    room = [low + last - first + r.randrange(2) for low, first, last in zip(at, start, stop)]
    return {"box": [shape, start, stop, [max(n, 1) for n in room], at], "itemsize": r.choice([1, 2, 4, 7, 8, 255])}


ARGUMENTS = {
    "new": lambda r, pool: make_storage(r) | {"path": r.randrange(6) == 0},
    "append": append_arguments,
    "fields": lambda r, pool: {},
    "chunk": lambda r, pool: {"n": r.choice([0, 0, 1, 2, 3, -1, 99])},
    "items": lambda r, pool: {"n": r.choice([0, 0, 1, 2]), "start": r.choice([0, 1, 7, 90, -1]), "count": r.choice([1, 3, 20, 0, -1, 1 << 20])},
    "frame": lambda r, pool: {},
    "buffer": frame_arguments,
    "file": frame_arguments,
    "array": array_arguments,
    "part": part_arguments,
    "array_frame": lambda r, pool: {},
    "array_fields": lambda r, pool: {},
    "array_of_frame": frame_arguments,
    "array_of_file": frame_arguments,
    "box": box_arguments,
    "indexes": lambda r, pool: {
        "shape": [r.randrange(1, 9) for _ in range(r.randrange(1, 5))],
        "i": r.choice([0, 1, 17, 100, 5000, -3]),
    },
    "free": lambda r, pool: {},
}
MAKES_SCHUNK = ["new", "buffer", "file"]
MAKES_ARRAY = ["array", "array_of_frame", "array_of_file"]
WITH_SCHUNK = ["append", "fields", "chunk", "items", "frame", "free"]
WITH_ARRAY = ["part", "array_frame", "array_fields"]
NAMES = MAKES_SCHUNK * 3 + MAKES_ARRAY * 3 + WITH_SCHUNK * 4 + WITH_ARRAY * 4 + ["box", "indexes"]


def make_calls(r, pool):
    """The calls of a sequence: a name and arguments each."""
    schunks, arrays, calls = [], [], []
    for _ in range(r.randrange(2, 12)):
        name = r.choice(NAMES)
        a = ARGUMENTS[name](r, pool)
        made = schunks if name in MAKES_SCHUNK + WITH_SCHUNK else arrays
        if name in MAKES_SCHUNK + MAKES_ARRAY:
            made.append(a)
        elif name in WITH_SCHUNK + WITH_ARRAY:
            if not made:
                continue
            n = r.randrange(len(made))
            a["on"] = n
            a["damaged"], a["wrong"] = made[n].get("damaged"), made[n].get("wrong")
            a["is_new"] = "params" in made[n]
            a["contiguous"] = made[n].get("contiguous")
            if name == "free":
                made[n]["wrong"] = True
            if name == "append":
                made[n]["appended"] = made[n].get("appended", 0) + 1
        calls.append((name, a))
    return calls


def numbers(kind, values):
    return (kind * (len(values) + 1))(*values)


class Runner:
    """One library, and the state of a sequence."""

    def __init__(self, path):
        self.l = load_all(path)
        self.schunks, self.arrays, self.kept = [], [], []
        self.folder = tempfile.mkdtemp()

    def storage(self, a, path=None):
        p = self.l.blosc2_get_blosc2_cparams_defaults()
        for name, value in a["params"].items():
            setattr(p, name, (c.c_uint8 * 6)(*value) if name == "filters" else value)
        self.kept.append(p)
        return Storage(a["contiguous"], path, c.pointer(p), None, None)

    def new(self, a):
        path = tempfile.mktemp(dir=self.folder).encode() if a["path"] else None
        self.schunks.append(self.l.blosc2_schunk_new(self.storage(a, path)))
        return [int(bool(self.schunks[-1])) - 1]

    def append(self, a):
        data = base.base64.b64decode(a["data"])
        place = None if a["null"] else data
        schunk = self.schunks[a["on"]]
        if not schunk:
            return [-1]
        return [self.l.blosc2_schunk_append_buffer(schunk, place, a["n"])]

    def fields(self, a):
        schunk = self.schunks[a["on"]]
        if not schunk:
            return [-1]
        s = schunk.contents
        values = [getattr(s, name) for name in ROWS_OF_FIELDS]
        layers = [s.metalayers[n].contents for n in range(s.nmetalayers)]
        contents = [[m.name.decode("latin-1"), c.string_at(m.content, m.content_len).hex()] for m in layers]
        return [0, values, list(s.filters), bool(s.frame), bool(s.data), contents]

    def read(self, schunk, chunk, n, items=None):
        p = self.l.blosc2_get_blosc2_dparams_defaults()
        p.schunk = c.cast(schunk, c.c_void_p)
        context = self.l.blosc2_create_dctx(p)
        dest = (c.c_uint8 * ROOM)()
        if items is None:
            code = self.l.blosc2_decompress_ctx(context, chunk, n, dest, ROOM)
        else:
            code = self.l.blosc2_getitem_ctx(context, chunk, n, *items, dest, ROOM)
        self.l.blosc2_free_ctx(context)
        return [code, zlib.crc32(bytes(dest[: max(0, code)]))]

    def chunk(self, a, items=None):
        schunk = self.schunks[a["on"]]
        if not schunk:
            return [-1]
        place, needs_free = c.c_void_p(), c.c_bool()
        n = self.l.blosc2_schunk_get_lazychunk(schunk, a["n"], place, needs_free)
        if n < 0:
            return [n]
        read = self.read(schunk, place, n, items)
        head = c.string_at(place, n)
        kind = [head[31] & 0x78, n if head[31] & 0x70 else 1, needs_free.value]
        if needs_free.value:
            base.libc.free(place)
        return [0, kind, read] if items is None else read

    def items(self, a):
        return self.chunk(a, (a["start"], a["count"]))

    def frame(self, a):
        schunk = self.schunks[a["on"]]
        if not schunk:
            return [-1]
        place, needs_free = c.c_void_p(), c.c_bool()
        n = self.l.blosc2_schunk_to_buffer(schunk, place, needs_free)
        return [n] if n < 0 else [0, needs_free.value, self.look(place, n)]

    def look(self, place, n):
        """Opens a frame that the library made, and reads its first chunk."""
        copy = c.create_string_buffer(c.string_at(place, n), n)
        again = self.l.blosc2_schunk_from_buffer(copy, n, False)
        self.kept.append(copy)
        if not again:
            return None
        self.l.blosc2_schunk_avoid_cframe_free(again, True)
        self.schunks.append(again)
        result = [self.fields({"on": -1}), self.chunk({"on": -1, "n": 0})]
        self.schunks.pop()
        self.l.blosc2_schunk_free(again)
        return result

    def buffer_of(self, a):
        frame = base.base64.b64decode(a["frame"])
        buffer = c.create_string_buffer(frame, len(frame) + 1)
        self.kept.append(buffer)
        return self.l.blosc2_schunk_from_buffer(buffer, len(frame) + a["more"], a["copy"])

    def buffer(self, a):
        self.schunks.append(self.buffer_of(a))
        schunk = self.schunks[-1]
        if schunk and not a["copy"]:
            self.l.blosc2_schunk_avoid_cframe_free(schunk, True)
        return [int(bool(schunk)) - 1]

    def path_of(self, a):
        path = tempfile.mktemp(dir=self.folder)
        with open(path, "wb") as file:
            file.write(b"x" * a["before"] + base.base64.b64decode(a["frame"]))
        self.kept.append(path)
        return path.encode()

    def file(self, a):
        offset = a["before"] + a["offset"]
        self.schunks.append(self.l.blosc2_schunk_open_offset(self.path_of(a), offset))
        return [int(bool(self.schunks[-1])) - 1]

    def free(self, a):
        schunk, self.schunks[a["on"]] = self.schunks[a["on"]], None
        return [self.l.blosc2_schunk_free(schunk)] if schunk else [-1]

    def array(self, a):
        shape, chunks, blocks = a["shape"]
        layer = Metalayer(b"note", c.cast(c.c_char_p(b"text"), c.c_void_p), 4)
        dtype = a["dtype"] and a["dtype"].encode()
        ctx = self.l.b2nd_create_ctx(
            self.storage(a),
            len(shape),
            numbers(c.c_int64, shape),
            numbers(c.c_int32, chunks),
            numbers(c.c_int32, blocks),
            dtype,
            0,
            c.byref(layer),
            1,
        )
        self.arrays.append(None)
        if not ctx:
            return [-1]
        nbytes = min(max(a["params"]["typesize"], 0), 4000)
        for n in shape:
            nbytes *= max(n, 0)
        unit = [b"\0", b"abcdefg", bytes(range(256))][a["kind"]]
        data = (unit * (nbytes // len(unit) + 1))[:nbytes]
        array = ARRAY()
        code = self.l.b2nd_from_cbuffer(ctx, array, data + b"12345", nbytes + a["more"])
        self.arrays[-1] = array if code >= 0 else None
        return [code, self.l.b2nd_free_ctx(ctx)] if code >= 0 else [code]

    def array_fields(self, a):
        array = self.arrays[a["on"]]
        if not array:
            return [-1]
        x, values = array.contents, []
        for name, kind in Array._fields_:
            # C-Blosc2 leaves steps of dimensions that are not there as they were, and the tick of
            # an array without items is one or the other.
            is_unset = "strides" in name and x.ndim == 0 or name == "last_tick" and x.nitems == 0
            if name in ("sc", "chunk_array_strides") or is_unset:
                continue
            value = getattr(x, name)
            if name == "dtype":
                values.append(value and value.decode("latin-1"))
            else:
                values.append(list(value[: x.ndim]) if hasattr(kind, "_length_") else value)
        return [0, values]

    def part(self, a):
        array = self.arrays[a["on"]]
        if not array:
            return [-1]
        ndim = array.contents.ndim
        start, lens, room = [a[name][:ndim] for name in ("start", "lens", "room")]
        stop = [low + n for low, n in zip(start, lens)]
        typesize = array.contents.sc.contents.typesize
        nitems = 1
        for n in room:
            nitems *= n
        n = min(nitems * typesize, ROOM)
        dest = (c.c_uint8 * (n + 64))()
        c.memset(dest, 0xAA, n + 64)
        code = self.l.b2nd_get_slice_cbuffer(
            array,
            numbers(c.c_int64, start),
            numbers(c.c_int64, stop),
            dest,
            numbers(c.c_int64, room),
            max(0, n - a["less"]),
        )
        lens = array.contents.shape[:ndim]
        is_outside = any(low < 0 or high > n for low, high, n in zip(start, stop, lens))
        return [code, zlib.crc32(bytes(dest)) if code >= 0 else 0, is_outside]

    def array_frame(self, a):
        array = self.arrays[a["on"]]
        if not array:
            return [-1]
        place, n, needs_free = c.c_void_p(), c.c_int64(), c.c_bool()
        code = self.l.b2nd_to_cframe(array, place, n, needs_free)
        return [code] if code < 0 else [0, needs_free.value, self.look(place, n.value)]

    def array_of_frame(self, a):
        schunk, array = self.buffer_of(a), ARRAY()
        self.arrays.append(None)
        if not schunk:
            return [-1]
        if not a["copy"]:
            self.l.blosc2_schunk_avoid_cframe_free(schunk, True)
        code = self.l.b2nd_from_schunk(schunk, array)
        self.arrays[-1] = array if code >= 0 else None
        return [code]

    def array_of_file(self, a):
        array = ARRAY()
        code = self.l.b2nd_open_offset(self.path_of(a), array, a["before"] + a["offset"])
        self.arrays.append(array if code >= 0 else None)
        return [code]

    def box(self, a):
        shape, start, stop, room, at = [numbers(c.c_int64, values) for values in a["box"]]
        nitems = [1, 1]
        for n, lens in enumerate((a["box"][0], a["box"][3])):
            for length in lens:
                nitems[n] *= length
        src = bytes(i % 251 for i in range(nitems[0] * a["itemsize"]))
        dest = (c.c_uint8 * (nitems[1] * a["itemsize"] + 8))()
        ndim = len(a["box"][0])
        code = self.l.b2nd_copy_buffer(ndim, a["itemsize"], src, shape, start, stop, dest, room, at)
        return [code, zlib.crc32(bytes(dest))]

    def indexes(self, a):
        ndim = len(a["shape"])
        index, i = (c.c_int64 * ndim)(), c.c_int64()
        self.l.blosc2_unidim_to_multidim(ndim, numbers(c.c_int64, a["shape"]), a["i"], index)
        steps = numbers(c.c_int64, [7, 5, 3, 2][:ndim])
        self.l.blosc2_multidim_to_unidim(index, ndim, steps, c.byref(i))
        return [list(index), i.value]


def make_pool(original):
    """Frames of C-Blosc2, of super-chunks and of arrays."""
    r, runner, pool = base.random.Random(8), Runner(original), []
    runner.l.blosc2_init()
    place, n, needs_free = c.c_void_p(), c.c_int64(), c.c_bool()
    while len(pool) < 60:
        a = make_storage(r)
        if a["wrong"]:
            continue
        if len(pool) % 2:
            schunk = runner.l.blosc2_schunk_new(runner.storage(a))
            data = make_data(r)
            for _ in range(r.randrange(4)):
                runner.l.blosc2_schunk_append_buffer(schunk, data, len(data)) if data else None
            size = runner.l.blosc2_schunk_to_buffer(schunk, place, needs_free)
        else:
            runner.array({**array_arguments(r, []), **a, "more": 0})
            if not runner.arrays[-1]:
                continue
            code = runner.l.b2nd_to_cframe(runner.arrays[-1], place, n, needs_free)
            size = n.value if code == 0 else -1
        if 0 < size < 60_000:
            pool.append(c.string_at(place, size))
    return pool


if __name__ == "__main__":
    sys.exit(base.compare(__file__, Runner, make_pool, make_calls, DIFFERENCES))
