"""Bloscpack files (docs/formats/bloscpack.md)."""

import hashlib
import json
import struct
import zlib
from math import prod

from .chunk import chunk, memcpyed
from .suite import edit, i32, i64, noise, ramp, text

RELEASES = {0: "bloscpack 0.1.0-rc1", 1: "bloscpack 0.1.0", 2: "bloscpack 0.2.0", 3: "bloscpack 0.4.0"}
# Every release refuses the versions of others.
UNTIL = {0: "bloscpack 0.1.0-rc2", 1: "bloscpack 0.1.1", 2: "bloscpack 0.3.0"}
CHECKSUMS = {
    "none": lambda data: b"",
    "adler32": lambda data: struct.pack("<I", zlib.adler32(data)),
    "crc32": lambda data: struct.pack("<I", zlib.crc32(data)),
    **{name: (lambda data, name=name: hashlib.new(name, data).digest()) for name in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")},
}
IDS = list(CHECKSUMS)


def header(version, options, checksum, typesize, chunk_size, last_chunk, nchunks, reserve):
    """Chapter 2."""
    return b"blpk" + bytes([version, options, IDS.index(checksum), typesize]) + i32(chunk_size) + i32(last_chunk) + i64(nchunks) + i64(reserve)


def metadata(value, codec=0, checksum="adler32", room=None, magic=b"JSON\0\0\0\0", raw=None):
    """Chapter 4."""
    plain = json.dumps(value, separators=(",", ":")).encode() if raw is None else raw
    stored = stored_zlib(plain) if codec else plain
    room = len(plain) * 10 if room is None else room
    head = magic + bytes([0, IDS.index(checksum), codec, 6]) + struct.pack("<III", len(plain), room, len(stored)) + bytes(8)
    return head + stored + bytes(room - len(stored)) + CHECKSUMS[checksum](stored)


def stored_zlib(data):
    """A zlib stream that stores its data, the same with every library."""
    return b"\x78\x01\x01" + struct.pack("<HH", len(data), len(data) ^ 0xFFFF) + data + struct.pack(">I", zlib.adler32(data))


def pieces(data, chunk_size, **params):
    """Chunks of Blosc 1, the only kind that these files have."""
    parts = [data[i:i + chunk_size] for i in range(0, len(data), chunk_size)] or [b""]
    return [chunk(part, version=2, **params) if part else memcpyed(b"", version=2) for part in parts]


def blp(chunks, chunk_size, last_chunk, *, checksum="adler32", typesize=1, offsets=True, reserve=None, meta=None, version=3, nchunks=None,
        after=b"", unset=False):
    """Versions 2 and 3."""
    count = len(chunks)
    reserve = (10 * count if version == 3 else 0) if reserve is None else reserve
    reserve = reserve if offsets and version == 3 else 0
    section = meta or b""
    at = 32 + len(section) + 8 * (count + reserve) * offsets
    positions, body = [], b""
    for item in chunks:
        positions.append(at + len(body))
        body += item + CHECKSUMS[checksum](item)
    table = b"".join(i64(-1 if unset else p) for p in positions) + i64(-1) * reserve if offsets else b""
    options = offsets | bool(meta) << 1
    head = header(version, options, checksum, typesize, chunk_size, last_chunk, count if nchunks is None else nchunks, reserve)
    return head + section + table + body + after


def version_1(chunks, nchunks=None):
    return b"blpk\1\0\0\0" + i64(len(chunks) if nchunks is None else nchunks) + b"".join(chunks)


def c_order(items, typesize, shape):
    """The SHA-256 of items of two dimensions with the last index fastest."""
    rows, columns = shape
    places = (column * rows + row for row in range(rows) for column in range(columns))
    return hashlib.sha256(b"".join(items[at * typesize:(at + 1) * typesize] for at in places)).hexdigest()


def cases(suite):
    def add(name, about, content, data, section, release=3, **fields):
        suite.valid(f"blp/{name}", content, data, about=about, section=f"bloscpack.md {section}", since=RELEASES[release], until=UNTIL.get(release), **fields)

    data = text(1000)
    three = dict(chunk_size=400, last_chunk=200)
    chunks = pieces(data, 400, typesize=1, blocksize=200)
    for checksum in CHECKSUMS:
        add(f"checksum-{checksum}", f"digests: {checksum}", blp(chunks, checksum=checksum, **three), data, 3)
        add(f"meta-checksum-{checksum}", f"metadata with {checksum}", blp(chunks, meta=metadata({"a": 1}, checksum=checksum), **three), data, 4,
            metadata={"json": {"a": 1}})
    for offsets in (True, False):
        for value in (None, {}, [1, 2], "text", {"k": {"deep": [None, True, 1.5]}}):
            meta = metadata(value) if value is not None else None
            name = "none" if value is None else {dict: "object", list: "list", str: "text"}[type(value)] + ("-empty" if not value else "")
            name += "-deep" if value and isinstance(value, dict) else ""
            add(f"{'offsets' if offsets else 'no-offsets'}-meta-{name}", f"{'with' if offsets else 'without'} offsets, metadata {value!r}",
                blp(chunks, offsets=offsets, meta=meta, **three), data, 4, **({"metadata": {"json": value}} if meta else {}))
    add("meta-zlib", "metadata in a zlib stream", blp(chunks, meta=metadata({"list": list(range(50))}, 1), **three), data, 4,
        metadata={"json": {"list": list(range(50))}})
    add("meta-no-room", "metadata without room to grow", blp(chunks, meta=metadata({"a": 1}, room=7), **three), data, 4, metadata={"json": {"a": 1}})
    for codec in ("blosclz", "lz4", "zlib", "zstd"):
        for typesize in (1, 4, 8):
            items = ramp(1200 // typesize, typesize, 3)
            for filter in ("shuffle", "bitshuffle"):
                made = pieces(items, 512, codec=codec, pipeline=(filter,), typesize=typesize, blocksize=512)
                add(f"{codec}-{filter}-typesize{typesize}", f"{codec}, {filter}, items of {typesize} bytes", blp(made, 512, 176, typesize=typesize), items, 6)
    add("snappy", "Snappy", blp(pieces(data, 400, codec="snappy", typesize=1, blocksize=400), **three), data, 6)
    for nbytes in (0, 1, 399, 400, 401, 800):
        part, size = text(nbytes), min(nbytes, 400)
        made = pieces(part, 400, typesize=1)
        last = nbytes % 400 or size
        add(f"length-{nbytes}", f"{nbytes} bytes in chunks of 400", blp(made, size, last), part, 6)
        add(f"length-{nbytes}-no-offsets", f"{nbytes} bytes, without offsets", blp(made, size, last, offsets=False), part, 6)
    add("noise", "data that do not compress", blp(pieces(noise(1000), 400, typesize=1), **three), noise(1000), 6)
    add("reserve-0", "no offsets in reserve", blp(chunks, reserve=0, **three), data, 5)
    add("reserve-3", "three offsets in reserve", blp(chunks, reserve=3, **three), data, 5)
    add("bytes-after", "bytes after the last chunk", blp(chunks, after=b"anything", **three), data, 1)
    mixed = [pieces(data[:400], 400, codec="zlib", typesize=1)[0], pieces(data[400:800], 400, codec="blosclz", typesize=4)[0], chunks[2]]
    add("codecs-mixed", "chunks of different codecs", blp(mixed, **three), data, 6)
    add("offsets-unset", "all offsets -1: the writer was interrupted just before the end", blp(chunks, unset=True, **three), data, 9,
        checks="bloscpack.md 11 (6)")
    add("unknown-nchunks", "an unknown number of chunks", blp(chunks, offsets=False, nchunks=-1, **three), data, 7, checks="bloscpack.md 11 (3)",
        notes="Bloscpack decodes nothing, without an error")
    add("unknown-sizes", "unknown sizes of chunks", blp(chunks, -1, -1), data, 7)
    add("version-2", "version 2", blp(chunks, version=2, **three), data, 2, 2)
    add("version-2-no-offsets", "version 2 without offsets", blp(chunks, version=2, offsets=False, **three), data, 2, 2)
    add("version-2-one-chunk", "version 2: a single chunk has chunk_size 0", blp(pieces(data, 1000, typesize=1), 0, 1000, version=2), data, 2, 2)
    add("version-1", "version 1", version_1(chunks), data, 2, 1)
    add("version-1-last-empty", "version 1 with a last chunk without data", version_1(pieces(data[:800], 400, typesize=1) + [memcpyed(b"", version=2)]),
        data[:800], 2, 1)
    add("version-0", "before version 1", b"blpk" + i32(5) + b"".join(pieces(data, 200, typesize=1)), data, 2, 0)

    arrays = [
        ("f8", "'<f8'", 8, [25], "C"), ("i4-2d", "'<i4'", 4, [5, 6], "C"), ("i2-fortran", "'<i2'", 2, [4, 5], "F"), ("scalar", "'<f8'", 8, [], "C"),
        ("empty", "'<f8'", 8, [0], "C"), ("S5", "'|S5'", 5, [7], "C"), ("U3", "'<U3'", 12, [4], "C"), ("big", "'>i4'", 4, [9], "C"),
        ("M8", "'<M8[ns]'", 8, [9], "C"), ("struct", "[('a', '<i4'), ('b', '<f8', (2,))]", 20, [6], "C"), ("bool", "'|b1'", 1, [9], "C"),
        ("c16", "'<c16'", 16, [3], "C"),
    ]
    for name, dtype, typesize, shape, order in arrays:
        count = prod(shape)
        items = bytes(i % 2 for i in range(count)) if name == "bool" else ramp(count, typesize, 11)
        if name == "U3":
            items = "ab\0c\0\0def\0\0\0".encode("utf-32-le")
        meta = {"dtype": dtype, "shape": shape, "order": order, "container": "numpy"}
        made = pieces(items, 20 * typesize, typesize=typesize, pipeline=("shuffle",), blocksize=64 * typesize)
        size = min(20 * typesize, len(items))
        rest = len(items) % (20 * typesize) or size
        # Bytes as they are stored: for order F the first index runs fastest.
        add(f"array-{name}", f"an array of {dtype}, order {order}", blp(made, size, rest, typesize=typesize, meta=metadata(meta)), items, 10,
            dtype=dtype.strip("'"), shape=shape, metadata={"json": meta}, c_order=c_order(items, typesize, shape) if order == "F" else None)
    for name, dtype in (("0.4.0", [["", "<f8"]]), ("0.4.1", "<f8")):
        meta = {"dtype": dtype, "shape": [25], "order": "C", "container": "numpy"}
        items = ramp(25, 8, 11)
        add(f"array-of-{name}", f"an array as release {name} wrote it", blp(pieces(items, 200, typesize=8), 200, 200, typesize=8, meta=metadata(meta)),
            items, 10, dtype="<f8", shape=[25], metadata={"json": meta})
    refusals(suite, chunks, three)


def refusals(suite, chunks, three):
    whole = blp(chunks, checksum="crc32", **three)
    first = 32 + 8 * 33
    meta = metadata({"a": 1})
    with_meta = blp(chunks, meta=meta, **three)
    entry = 32

    def refused(name, content, error, why, row):
        suite.invalid(f"blp/{name}", content, error, why, about=why, section="bloscpack.md 11", checks=f"bloscpack.md 11 ({row})")

    refused("empty-file", b"", "truncated", "no header", 1)
    refused("header-31", whole[:31], "truncated", "31 bytes of a header", 1)
    refused("header-only", whole[:32], "truncated", "no offsets and no chunks", 1)
    refused("chunk-cut", whole[:-30], "truncated", "the last chunk is cut", 1)
    refused("digest-cut", whole[:-1], "truncated", "the last digest is cut", 1)
    refused("offsets-cut", whole[:100], "truncated", "the offsets are cut", 1)
    refused("nchunks-4", edit(blp(chunks, offsets=False, **three), (16, i64(4))), "truncated", "four chunks promised, three there", 1)
    refused("magic", edit(whole, (0, b"B")), "unknown", "another magic", 2)
    refused("version-4", edit(whole, (4, b"\4")), "unknown", "version 4", 2)
    refused("version-255", edit(whole, (4, b"\xff")), "unknown", "version 255", 2)
    refused("option-bit-2", edit(whole, (5, b"\5")), "unknown", "bit 2 of the options", 2)
    refused("option-bit-7", edit(whole, (5, b"\x81")), "unknown", "bit 7 of the options", 2)
    refused("checksum-9", edit(whole, (6, b"\x09")), "unknown", "checksum 9", 2)
    refused("chunk_size-minus-2", edit(whole, (8, i32(-2))), "contradiction", "chunk_size -2", 3)
    refused("chunk_size-over-limit", edit(whole, (8, i32(2147483632))), "contradiction", "chunk_size over what Blosc 1 can hold", 3)
    refused("last_chunk-minus-2", edit(whole, (12, i32(-2))), "contradiction", "last_chunk -2", 3)
    refused("last_chunk-larger", edit(whole, (12, i32(401))), "contradiction", "last_chunk is larger than chunk_size", 3)
    refused("nchunks-minus-2", edit(whole, (16, i64(-2))), "contradiction", "nchunks -2", 3)
    refused("nchunks-huge", edit(whole, (16, i64(2**62))), "contradiction", "2^62 offsets", 3)
    refused("reserve-negative", edit(whole, (24, i64(-1))), "contradiction", "max_app_chunks -1", 3)
    refused("reserve-overflows", edit(whole, (24, i64(2**63 - 1))), "contradiction", "nchunks + max_app_chunks exceed 2^63 - 1", 3)
    refused("unknown-count-with-offsets", edit(whole, (16, i64(-1))), "contradiction", "offsets of an unknown number of chunks", 3)
    refused("meta-codec-2", edit(with_meta, (entry + 10, b"\2")), "unknown", "codec 2 of the metadata", 4)
    refused("meta-level-10", edit(with_meta, (entry + 11, b"\x0a")), "contradiction", "level 10 of the metadata", 4)
    refused("meta-options", edit(with_meta, (entry + 8, b"\1")), "unknown", "options of the metadata", 4)
    refused("meta-checksum-9", edit(with_meta, (entry + 9, b"\x09")), "unknown", "checksum 9 of the metadata", 4)
    refused("meta-larger-than-room", edit(with_meta, (entry + 16, i32(3))), "contradiction", "metadata larger than their room", 4)
    refused("meta-size", edit(with_meta, (entry + 12, i32(8))), "contradiction", "meta_size is not meta_comp_size, without codec", 4)
    refused("meta-room-outside", edit(with_meta, (entry + 16, i32(2**31 - 1))), "truncated", "room after the end of the file", 4)
    refused("meta-digest", edit(with_meta, (entry + 32 + 70, b"\xee")), "checksum", "the digest of the metadata is another", 5)
    refused("meta-no-json", blp(chunks, meta=metadata(None, raw=b"{\"a\": "), **three), "contradiction", "metadata that are no JSON", 5)
    refused("meta-no-utf8", blp(chunks, meta=metadata(None, raw=b"\"\xff\xfe\""), **three), "contradiction", "metadata that are no UTF-8", 5)
    zipped = metadata({"a": [0] * 40}, 1)
    no_stream = b"\0\0" + zipped[34:32 + int.from_bytes(zipped[20:24], "little")]
    refused("meta-stream", blp(chunks, meta=edit(zipped, (32, no_stream), (len(zipped) - 4, CHECKSUMS["adler32"](no_stream))), **three),
            "contradiction", "no zlib stream", 5)
    refused("meta-bomb", blp(chunks, meta=edit(zipped, (12, i32(5))), **three), "contradiction", "more text than meta_size says", 5)
    refused("meta-format", blp(chunks, meta=metadata({"a": 1}, magic=b"PICKLE\0\0"), **three), "unknown", "metadata of another format", 5)
    refused("offset-negative", edit(whole, (32, i64(-5))), "contradiction", "the first offset is -5", 6)
    refused("offset-in-table", edit(whole, (32, i64(40))), "contradiction", "an offset into the offsets", 6)
    refused("offset-outside", edit(whole, (48, i64(10**6))), "contradiction", "an offset after the file", 6)
    refused("offsets-swapped", edit(whole, (32, whole[40:48]), (40, whole[32:40])), "contradiction", "two offsets swapped", 6)
    refused("offset-unset", edit(whole, (40, i64(-1))), "contradiction", "one offset is not set", 6)
    refused("offset-other", edit(whole, (32, i64(first + 1))), "contradiction", "an offset that is not where the chunk is", 6)
    refused("reserve-used", edit(whole, (56, i64(first))), "contradiction", "an offset in the reserve", 6)
    refused("chunk-version-5", blp([chunk(text(400), typesize=1), *chunks[1:]], **three), "contradiction", "a chunk of Blosc2", 7)
    refused("chunk-version-0", blp([edit(chunks[0], (0, b"\0")), *chunks[1:]], **three), "unknown", "a chunk of version 0", 7)
    refused("chunk-body", blp([edit(chunks[0], (16, i32(4))), *chunks[1:]], **three), "contradiction", "a damaged chunk with its digest", 7)
    refused("chunk-size-other", blp([*pieces(text(399), 399, typesize=1), *chunks[1:]], **three), "contradiction", "a chunk of 399 of 400 bytes", 7)
    refused("chunk-empty", blp([memcpyed(b"", version=2), *chunks[1:]], **three), "contradiction", "a chunk without data", 7)
    refused("chunk-cbytes-huge", edit(whole, (first + 12, i32(2**31 - 1))), "truncated", "a chunk of 2^31 - 1 bytes", 7)
    refused("chunk-cbytes-0", edit(whole, (first + 12, i32(0))), "contradiction", "a chunk of no bytes", 7)
    refused("chunk-nbytes-bomb", edit(whole, (first + 4, i32(2**31 - 17))), "contradiction", "a chunk of 2 GiB of data", 7)
    refused("digest-flipped", edit(whole, (len(whole) - 4, bytes([whole[-4] ^ 1]))), "checksum", "a bit of a digest", 7)
    refused("data-flipped", edit(whole, (first + 24, bytes([whole[first + 24] ^ 1]))), "checksum", "a bit of a chunk", 7)
    for checksum in ("adler32", "md5", "sha1", "sha256", "sha512"):
        damaged = blp(chunks, checksum=checksum, **three)
        refused(f"digest-{checksum}", edit(damaged, (len(damaged) - 1, bytes([damaged[-1] ^ 1]))), "checksum", f"a bit of a digest, {checksum}", 7)

    items = ramp(25, 8)
    made = dict(chunk_size=200, last_chunk=200, typesize=8)
    good = {"dtype": "'<f8'", "shape": [25], "order": "C", "container": "numpy"}
    for name, change, error, why in (
        ("shape-small", {"shape": [24]}, "contradiction", "a shape of 24 of 25 items"), ("shape-large", {"shape": [26]}, "contradiction", "a shape of 26 items for 25"),
        ("shape-overflows", {"shape": [2**40, 2**40]}, "contradiction", "a shape of 2^80 items"), ("shape-negative", {"shape": [-25]}, "contradiction", "a negative length"),
        ("dtype-code", {"dtype": "__import__('os').getcwd()"}, "contradiction", "code instead of a type"), ("dtype-objects", {"dtype": "'|O'"}, "unknown", "object pointers"),
        ("dtype-unknown", {"dtype": "'<q9'"}, "unknown", "an unknown type"), ("order", {"order": "X"}, "contradiction", "order X"),
    ):
        content = blp(pieces(items, 200, typesize=8), meta=metadata({**good, **change}), **made)
        suite.undefined(f"blp/array-{name}", content, f"as an array to be refused: {why}; its bytes are sound", items, about=f"an array: {why}",
                        section="bloscpack.md 10", checks="bloscpack.md 11 (8)")
