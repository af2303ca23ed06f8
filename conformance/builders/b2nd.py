"""N-dimensional arrays (docs/formats/b2nd.md)."""

from itertools import product
from math import prod

from . import filters
from .chunk import BASE, chunk, special
from .frame import NAN, ZEROS, edit, frame, sframe
from .suite import big, noise, ramp

RELEASE = "C-Blosc2 2.7.0"


def metalayer(shape, chunks, blocks, dtype, format=0):
    """Chapter 1."""
    out = b"\x97\0" + bytes([len(shape)])
    out += bytes([0x90 + len(shape)]) + b"".join(b"\xd3" + big(n, 8) for n in shape)
    for lengths in (chunks, blocks):
        out += bytes([0x90 + len(shape)]) + b"".join(b"\xd2" + big(n, 4) for n in lengths)
    dtype = dtype if isinstance(dtype, bytes) else dtype.encode()
    return out + bytes([format]) + b"\xdb" + big(len(dtype), 4) + dtype


def caterva(shape, chunks, blocks):
    """Chapter 1, of the predecessor: no dtype."""
    return b"\x95" + metalayer(shape, chunks, blocks, "")[1:-6]


def chunk_data(data, typesize, shape, chunks, blocks):
    """Chapter 3: the bytes of each chunk, padding included."""
    strides = [prod(shape[d + 1:]) for d in range(len(shape))]
    grid = [-(-s // c) if c else 0 for s, c in zip(shape, chunks)]
    cells = [-(-c // b) if b else 0 for c, b in zip(chunks, blocks)]
    for g in product(*map(range, grid)):
        out = bytearray()
        for k in product(*map(range, cells)):
            for t in product(*map(range, blocks)):
                r = [ki * bi + ti for ki, bi, ti in zip(k, blocks, t)]
                x = [gi * ci + ri for gi, ci, ri in zip(g, chunks, r)]
                inside = all(ri < ci for ri, ci in zip(r, chunks)) and all(xi < si for xi, si in zip(x, shape))
                at = sum(xi * si for xi, si in zip(x, strides)) * typesize
                out += data[at:at + typesize] if inside else bytes(typesize)
        yield bytes(out)


def array(data, shape, chunks, blocks, dtype, typesize, *, build=frame, meta=None, name="b2nd", compress=None, layers={}, **params):
    """An array in a frame; `compress` makes a chunk of its bytes."""
    params = {"pipeline": ("shuffle",), **params}
    width = typesize if typesize < 256 else 1
    blocksize = prod(blocks) * typesize
    compress = compress or (lambda data: chunk(data, typesize=width, blocksize=blocksize, **params))
    parts = list(chunk_data(data, typesize, shape, chunks, blocks)) if prod(shape) else []
    meta = metalayer(shape, chunks, blocks, dtype) if meta is None else meta
    size = len(parts[0]) if parts else prod(-(-c // b) * b for c, b in zip(chunks, blocks) if b) * typesize
    return build([compress(part) for part in parts], sum(map(len, parts)), size, layers={name: meta, **layers}, typesize=typesize,
                 blocksize=blocksize)


SHAPES = [
    # shape, chunks, blocks
    ((), (), ()), ((1,), (1,), (1,)), ((10,), (4,), (2,)), ((10,), (20,), (3,)), ((100,), (100,), (100,)),
    ((5, 3), (4, 2), (2, 2)), ((4, 4), (2, 2), (1, 1)), ((7, 9), (7, 9), (3, 4)), ((1, 20), (1, 7), (1, 3)),
    ((20, 1), (7, 1), (3, 1)), ((4, 5, 6), (2, 3, 4), (1, 2, 2)), ((3, 3, 3), (5, 5, 5), (2, 2, 2)),
    ((2, 3, 4, 5), (2, 2, 3, 3), (1, 2, 2, 3)), ((2, 2, 2, 2, 2), (1, 2, 1, 2, 1), (1, 1, 1, 1, 1)),
    ((2, 1, 2, 1, 2, 1), (2, 1, 1, 1, 2, 1), (1, 1, 1, 1, 2, 1)), ((1, 2, 1, 2, 1, 2, 1), (1, 2, 1, 1, 1, 2, 1), (1, 1, 1, 1, 1, 2, 1)),
    ((2,) * 8, (2, 1) * 4, (1,) * 8), ((1,) * 14 + (3, 2), (1,) * 14 + (2, 2), (1,) * 14 + (1, 2)),
]

DTYPES = [
    ("bool", "|b1", 1), ("i1", "|i1", 1), ("i2", "<i2", 2), ("i4", "<i4", 4), ("i8", "<i8", 8), ("u1", "|u1", 1), ("u2", "<u2", 2),
    ("u4", "<u4", 4), ("u8", "<u8", 8), ("f2", "<f2", 2), ("f4", "<f4", 4), ("f8", "<f8", 8), ("c8", "<c8", 8), ("c16", "<c16", 16),
    ("S7", "|S7", 7), ("U5", "<U5", 20), ("M8-ns", "<M8[ns]", 8), ("m8-D", "<m8[D]", 8), ("V5", "|V5", 5), ("big-i4", ">i4", 4),
    ("big-f8", ">f8", 8), ("struct", "[('a', '<i4'), ('b', '<f8')]", 12), ("struct-sub", "[('a', '<i4'), ('x', '<i2', (3,))]", 10),
    ("struct-offsets", "{'names': ['a', 'b'], 'formats': ['<i4', '<f8'], 'offsets': [0, 8], 'itemsize': 16}", 16),
]


def cases(suite):
    def add(name, about, content, data, section, shape, dtype, **fields):
        fields = {"since": RELEASE, **fields}
        suite.valid(f"b2nd/{name}", content, data, about=about, section=section, shape=shape, dtype=dtype, **fields)

    for shape, chunks, blocks in SHAPES:
        data = ramp(prod(shape), 2, 7)
        name = f"{len(shape)}d-" + ("x".join(map(str, shape)) or "scalar") if len(shape) < 9 else "16d"
        about = f"shape {shape}, chunks {chunks}, blocks {blocks}"
        add(f"{name}-chunks{'x'.join(map(str, chunks[-4:]))}", about, array(data, shape, chunks, blocks, "<i2", 2), data, "b2nd.md 3", shape, "<i2",
            checks="b2nd.md 10 (3)" if len(shape) == 2 else [])
    for name, dtype, typesize in DTYPES:
        data = bytes(i % 2 for i in range(12)) if name == "bool" else ramp(12, typesize, 17)
        if name == "U5":
            data = "".join(f"{'abcde'[:i % 5 + 1]:\0<5}" for i in range(12)).encode("utf-32-le")
        add(f"dtype-{name}", f"items of {dtype}", array(data, (3, 4), (2, 3), (2, 2), dtype, typesize), data, "b2nd.md 2", (3, 4), dtype,
            checks="b2nd.md 10 (5)")
    data = ramp(35, 4, 3)
    for codec in ("blosclz", "lz4hc", "zlib", "zstd"):
        add(f"codec-{codec}", f"{codec}", array(data, (5, 7), (3, 4), (2, 2), "<i4", 4, codec=codec), data, "b2nd.md 4", (5, 7), "<i4")
    for filter in ("bitshuffle", "delta"):
        add(f"filter-{filter}", f"{filter}", array(data, (5, 7), (3, 4), (2, 2), "<i4", 4, pipeline=(filter,)), data, "b2nd.md 4", (5, 7), "<i4")

    def cells(part, side=2, blocks=(4, 3)):
        """A chunk with the filter ndcell in its last slot."""
        size = prod(blocks) * 4
        turned = b"".join(filters.ndcell(part[i:i + size], 4, blocks, side) for i in range(0, len(part), size))
        made = chunk(turned, "lz4", (), 4, size)
        return edit(made, (0x15, bytes([filters.IDS["ndcell"]])), (0x1D, bytes([side])))
    add("filter-ndcell", "ndcell: cells of 2 x 2", array(data, (5, 7), (4, 6), (4, 3), "<i4", 4, compress=cells), data, "filters.md 11", (5, 7), "<i4")
    zeros = frame([ZEROS] * 6, 6 * 64, 64, layers={"b2nd": metalayer((5, 7), (3, 3), (2, 2), "<i4")}, typesize=4, blocksize=16)
    add("zeros", "chunks of zeros", zeros, bytes(140), "b2nd.md 4", (5, 7), "<i4")
    nans = frame([NAN] * 2, 2 * 32, 32, layers={"b2nd": metalayer((6,), (4,), (2,), "<f8")}, typesize=8, blocksize=16)
    add("nan", "chunks of NaN", nans, bytes.fromhex("000000000000f87f") * 6, "b2nd.md 4", (6,), "<f8")
    value = frame([special(3, 32, 8, b"\1\2\3\4\5\6\7\x08", 16)] * 2, 64, 32, layers={"b2nd": metalayer((6,), (4,), (2,), "<i8")}, typesize=8,
                  blocksize=16)
    add("value", "one value in all items", value, b"\1\2\3\4\5\6\7\x08" * 6, "b2nd.md 4", (6,), "<i8")
    for name, shape in (("empty-1d", (0,)), ("empty-rows", (0, 3)), ("empty-columns", (3, 0))):
        lengths = tuple(n or 1 for n in shape)
        add(name, f"shape {shape}", frame([], 0, 4 * prod(lengths), layers={"b2nd": metalayer(shape, lengths, lengths, "<i4")}, typesize=4), b"",
            "b2nd.md 3", shape, "<i4", checks="b2nd.md 10 (2)")
    add("empty-all-zero", "shape, chunks and blocks 0, as a writer without chunk shape leaves them",
        frame([], 0, 0, layers={"b2nd": metalayer((0,), (0,), (0,), "<i4")}, typesize=4, flags=0x53), b"", "b2nd.md 4", (0,), "<i4",
        since="C-Blosc2 3.0")
    stale = array(data, (5, 7), (3, 4), (2, 2), "<i4", 4)
    grown = edit(stale, (stale.index(b"\xd3" + big(7, 8)) + 1, big(6, 8)))
    add("old-items-in-padding", "a shape made smaller: the padding has old items", grown,
        b"".join(data[28 * row:28 * row + 24] for row in range(5)), "b2nd.md 7", (5, 6), "<i4", checks="b2nd.md 10 (6)")
    wide = noise(6 * 300)
    add("typesize300", "items of 300 bytes", array(wide, (2, 3), (2, 2), (1, 2), "|V300", 300), wide, "b2nd.md 4", (2, 3), "|V300")
    add("sparse", "an array in a sparse frame", array(data, (5, 7), (3, 4), (2, 2), "<i4", 4, build=sframe), data, "b2nd.md", (5, 7), "<i4")
    add("with-metalayers", "an array with two more metalayers", array(data, (5, 7), (3, 4), (2, 2), "<i4", 4, layers={"a": b"\1", "b": b"\xa1x"}),
        data, "b2nd.md 1", (5, 7), "<i4", metadata={"a": "01", "b": "a178"})
    add("both-metalayers", "b2nd and caterva: b2nd counts", array(data, (5, 7), (3, 4), (2, 2), "<i4", 4, layers={"caterva": b"\x95\xff"}), data,
        "b2nd.md 1", (5, 7), "<i4")
    old = array(data, (5, 7), (3, 4), (2, 2), "", 4, meta=caterva((5, 7), (3, 4), (2, 2)), name="caterva")
    add("caterva", "an array of Caterva: raw items", old, data, "b2nd.md 1", (5, 7), "|V4", since="Caterva 0.5", until="Caterva 0.5")
    other = array(data, (5, 7), (3, 4), (2, 2), "", 4, meta=metalayer((5, 7), (3, 4), (2, 2), "whatever", 1))
    suite.undefined("b2nd/dtype-format-1", other, "an opaque type: raw items, or refuse", data, about="dtype format 1", section="b2nd.md 1",
                    checks="b2nd.md 10 (5)")
    suite.undefined("b2nd/dtype-contradicts", array(data, (5, 7), (3, 4), (2, 2), "|u1", 4), "typesize counts: raw items of 4 bytes, or refuse",
                    data, about="|u1 with a typesize of 4", section="b2nd.md 11", checks="b2nd.md 10 (5)")
    suite.undefined("b2nd/dtype-objects", array(ramp(6, 8), (6,), (6,), (6,), "|O", 8), "pointers: raw items, or refuse", ramp(6, 8),
                    about="object pointers", section="b2nd.md 2", checks="b2nd.md 10 (5)")

    def refused(name, why, entry, shape=(5, 7), chunks=(3, 4), blocks=(2, 2), meta=None, error="contradiction"):
        meta = metalayer(shape, chunks, blocks, "<i4") if meta is None else meta
        content = array(data, (5, 7), (3, 4), (2, 2), "<i4", 4, meta=meta)
        suite.invalid(f"b2nd/{name}", content, error, why, about=why, section="b2nd.md 10", checks=f"b2nd.md 10 ({entry})")

    good = metalayer((5, 7), (3, 4), (2, 2), "<i4")
    refused("meta-empty", "the metalayer has no bytes", 1, meta=b"", error="truncated")
    refused("meta-array-of-8", "an array of 8", 1, meta=edit(good, (0, b"\x98")))
    refused("meta-version-3", "version 3", 1, meta=edit(good, (1, b"\3")), error="unknown")
    refused("meta-byte-after", "a byte after the dtype", 1, meta=good + b"\0")
    refused("meta-cut", "the dtype is cut", 1, meta=good[:-1], error="truncated")
    refused("meta-ndim-0", "no dimensions, and two shapes follow", 1, meta=edit(good, (2, b"\0")))
    refused("shape-negative", "a negative length", 2, shape=(-5, 7))
    refused("chunk-length-negative", "a negative length of chunks", 2, chunks=(-3, 4))
    refused("block-length-0", "blocks of no rows", 2, blocks=(0, 2))
    refused("shape-overflows", "2^124 items", 3, shape=(2**62, 2**62))
    refused("chunks-overflow", "chunks of 2^62 items", 3, chunks=(2**31 - 1, 2**31 - 1))
    refused("too-many-chunks", "6 chunks wanted, 4 there", 4, shape=(5, 9))
    refused("too-few-chunks", "2 chunks wanted, 4 there", 4, shape=(3, 7))
    refused("chunk-size", "chunks of 24 items, stored 16", 4, chunks=(6, 4), shape=(11, 7))
    short = array(data, (5, 7), (3, 4), (2, 2), "<i4", 4, compress=lambda part: BASE)
    suite.invalid("b2nd/chunk-of-8-bytes", short, "contradiction", "chunks of 8 bytes, where 64 are wanted", about="chunks of another size",
                  section="b2nd.md 10", checks="b2nd.md 10 (7)")
