"""Chunks (docs/formats/chunk.md)."""

from . import codecs, filters
from .suite import edit, i32, noise, ramp, text

DICT, BIG_ENDIAN, LAZY, INSTRUMENTED = 1, 2, 8, 128
VL = 1
MEMCPYED, DELTA_BIT, NOT_SPLIT = 2, 8, 16


def header(nbytes, cbytes, *, version=5, versionlz=1, flags=5, typesize=1, blocksize=1):
    """Section 1: the 16 bytes of every chunk."""
    return bytes([version, versionlz, flags, typesize]) + i32(nbytes) + i32(blocksize) + i32(cbytes)


def extension(pipeline=(), udcodec=0, codec_meta=0, flags2=0, blosc2_flags=0):
    """Section 1: bytes 16 to 31. The filters stand in the last slots, as C-Blosc2 puts them."""
    slots = [("none", 0)] * (6 - len(pipeline)) + list(pipeline)
    ids = bytes(filters.IDS[name] for name, _ in slots)
    metas = bytes(meta & 255 for _, meta in slots)
    return ids + bytes([udcodec, codec_meta]) + metas + bytes([flags2, blosc2_flags])


def stream(data, encode, runs):
    """Section 2.3: a size and a payload."""
    if runs and data and data == data[:1] * len(data):
        return i32(0) if data[0] == 0 else i32(-data[0]) + b"\x01"
    payload = encode(data) if encode else data
    if len(payload) >= len(data):
        payload = data
    return i32(len(payload)) + payload


def encoder(codec, dictionary):
    if codec is None:
        return None
    if dictionary and codec in ("lz4", "lz4hc"):
        return lambda data: codecs.lz4(data, dictionary)
    return codecs.ENCODERS[codec]


def pairs(pipeline):
    return [(f, 0) if isinstance(f, str) else f for f in pipeline]


def blocks_of(data, pipeline, typesize, blocksize, version):
    """The data in blocks, each filtered."""
    plain = [data[i:i + blocksize] for i in range(0, len(data), blocksize)]
    return [
        filters.forward(block, pairs(pipeline), typesize, plain[0] if i else None, version)
        for i, block in enumerate(plain)
    ]


def chunk(data, codec="lz4", pipeline=(), typesize=4, blocksize=256, split=False, version=5,
          dictionary=None, order=None, runs=True, blosc2_flags=0):
    """A regular chunk; `codec` None stores the streams. Versions 1 and 2 have the short header."""
    extended = version > 2
    blocksize = min(blocksize, len(data))
    id, code = codecs.CODECS[codec or "lz4"]
    blocks = blocks_of(data, pipeline, typesize, blocksize, version)
    coded = []
    for block in blocks:
        n = typesize if split and len(block) == blocksize else 1
        size = len(block) // n
        coded.append(b"".join(
            stream(block[i * size:(i + 1) * size], encoder(codec, dictionary), runs and extended)
            for i in range(n)
        ))
    names = [name for name, _ in pairs(pipeline)]
    flags = code << 5 | (0 if split else NOT_SPLIT)
    if extended:
        flags |= 5 | (DELTA_BIT if "delta" in names else 0)
        head = extension(pairs(pipeline), id, 0, 0, blosc2_flags | (DICT if dictionary else 0))
    else:
        flags |= ("shuffle" in names) | ("bitshuffle" in names) << 2
        head = b""
    extra = i32(len(dictionary)) + dictionary if dictionary else b""
    at = 16 + len(head) + 4 * len(blocks) + len(extra)
    starts, body = [0] * len(blocks), b""
    for i in order or range(len(blocks)):
        starts[i] = at + len(body)
        body += coded[i]
    start = header(len(data), at + len(body), version=version, flags=flags, typesize=typesize,
                   blocksize=blocksize)
    return start + head + b"".join(map(i32, starts)) + extra + body


def vl_chunk(blocks, codec="lz4", pipeline=(), typesize=1, dictionary=None):
    """Section 2.7: blocks of individual sizes."""
    id, code = codecs.CODECS[codec or "lz4"]
    coded = []
    for block in blocks:
        block = filters.forward(block, pairs(pipeline), typesize, None)
        payload = encoder(codec, dictionary)(block) if codec else block
        coded.append(i32(len(block)) + (payload if len(payload) < len(block) else block))
    extra = i32(len(dictionary)) + dictionary if dictionary else b""
    at, starts = 32 + 4 * len(blocks) + len(extra), []
    for part in coded:
        starts.append(at)
        at += len(part)
    head = header(sum(map(len, blocks)), at, version=6, flags=code << 5 | NOT_SPLIT | 5, typesize=typesize,
                  blocksize=len(blocks))
    head += extension(pairs(pipeline), id, 0, VL, DICT if dictionary else 0)
    return head + b"".join(map(i32, starts)) + extra + b"".join(coded)


def memcpyed(data, *, version=5, typesize=1, blosc2_flags=0, flags=None):
    """Section 2.1: the body is the data."""
    if version < 3:
        return header(len(data), 16 + len(data), version=version, flags=flags or MEMCPYED, typesize=typesize,
                      blocksize=max(len(data), 1)) + data
    head = header(len(data), 32 + len(data), version=version, flags=flags or 7, typesize=typesize,
                  blocksize=max(len(data), 1))
    return head + extension(blosc2_flags=blosc2_flags) + data


def special(kind, nbytes, typesize=4, value=b"", blocksize=None):
    """Section 2.5: a run."""
    head = header(nbytes, 32 + len(value), flags=5, typesize=typesize, blocksize=blocksize or max(nbytes, 1))
    return head + extension(blosc2_flags=kind << 4) + value


def since(version, codec=None, pipeline=(), special=0, dictionary=False):
    """The oldest release that reads such a chunk (sections 1.1, 5; filters.md 3)."""
    names = [name for name, _ in pairs(pipeline)]
    if version == 1:
        return "C-Blosc 1.0"
    if version == 2:
        if codec == "zstd":
            return "C-Blosc 1.11"
        if "bitshuffle" in names:
            return "C-Blosc 1.7"
        return "C-Blosc 1.3" if codec not in (None, "blosclz") else "C-Blosc 1.0"
    if version == 6 or dictionary and codec in ("lz4", "lz4hc"):
        return "C-Blosc2 3.0"
    if any(name == "shuffle" and meta for name, meta in pairs(pipeline)):
        return "C-Blosc2 2.23.1"
    for name, release in (("int_trunc", "2.13.0"), ("bytedelta", "2.10.0"), ("bytedelta_old", "2.8.0")):
        if name in names:
            return f"C-Blosc2 {release}"
    return "C-Blosc2 2.0.3" if version == 5 else "C-Blosc2 2.0.0"


# Two stored blocks "abcd" and "efgh": what most invalid cases start from.
BASE = chunk(b"abcdefgh", None, typesize=1, blocksize=4)
OLD = chunk(b"abcdefgh", None, typesize=1, blocksize=4, version=2)
VLB = vl_chunk([b"abcd", b"efgh"], None)
COPY, OLD_COPY = memcpyed(b"abcdefgh"), memcpyed(b"abcdefgh", version=2)
RUN7 = chunk(b"\x07" * 4 + b"efgh", None, typesize=1, blocksize=4)
WITH_DICT = chunk(b"abcdefgh", "lz4", typesize=1, blocksize=4, dictionary=b"DICT")
CODED = {codec: chunk(text(300), codec, typesize=1, blocksize=300) for codec in codecs.CODECS if codec != "snappy"}
CODED["zstd"] = chunk(bytes(range(10)) + b"\x09" * 290, "zstd", typesize=1, blocksize=300)
SNAPPY = chunk(text(300), "snappy", typesize=1, blocksize=300, version=2)
# A chunk of one stream begins its payload here.
PAYLOAD, OLD_PAYLOAD = 32 + 4 + 4, 16 + 4 + 4


def at(position, value):
    """An edit of four bytes."""
    return position, i32(value)


# Name, chunk, class of error, what is wrong, entry of section 4.1.
INVALID = [
    ("empty-file", b"", "truncated", "no byte", 1),
    ("header-15-bytes", OLD[:15], "truncated", "a short header has 16 bytes", 1),
    ("header-31-bytes", BASE[:31], "truncated", "an extended header has 32 bytes", 1),
    ("header-16-of-32", BASE[:16], "truncated", "an extended header has 32 bytes", 1),
    ("version-0", edit(BASE, (0, b"\0")), "unknown", "version 0 was never released", 2),
    ("version-7", edit(BASE, (0, b"\7")), "unknown", "version 7 is not known", 2),
    ("version-255", edit(BASE, (0, b"\xff")), "unknown", "version 255 is not known", 2),
    ("cbytes-over-file", edit(BASE, at(12, 57)), "truncated", "cbytes is one byte over the file", 3),
    ("cbytes-31", edit(BASE, at(12, 31)), "contradiction", "cbytes is less than the header", 3),
    ("cbytes-0", edit(BASE, at(12, 0)), "contradiction", "cbytes is 0", 3),
    ("cbytes-negative", edit(BASE, at(12, -1)), "contradiction", "cbytes is negative", 3),
    ("cbytes-min", edit(BASE, at(12, -2**31)), "contradiction", "cbytes is -2^31", 3),
    ("cbytes-15-old", edit(OLD, at(12, 15)), "contradiction", "cbytes is less than the header", 3),
    ("cut-by-1", BASE[:-1], "truncated", "the last byte is missing", 3),
    ("cut-half", BASE[:44], "truncated", "half of the blocks are missing", 3),
    ("cbytes-less-than-stream", edit(BASE, at(12, 0x34)), "contradiction",
     "the last stream ends after cbytes, though inside the file", 4),
    ("cbytes-less-than-start", edit(BASE, at(12, 0x32)), "contradiction", "a block starts after cbytes - 4", 4),
    ("nbytes-negative", edit(BASE, at(4, -1)), "contradiction", "nbytes is negative", 5),
    ("nbytes-huge", edit(BASE, at(4, 2**31 - 1)), "contradiction", "the table of 2^29 blocks is not there", 5),
    ("blocksize-0", edit(BASE, at(8, 0)), "contradiction", "blocksize is 0", 6),
    ("blocksize-negative", edit(BASE, at(8, -4)), "contradiction", "blocksize is negative", 6),
    ("blocksize-over-limit", edit(BASE, at(8, 536_866_817)), "contradiction", "blocksize is over its limit", 6),
    ("typesize-0", edit(BASE, (3, b"\0")), "contradiction", "typesize is 0", 7),
    ("typesize-0-old", edit(OLD, (3, b"\0")), "contradiction", "typesize is 0", 7),
    ("table-overruns", edit(BASE, at(8, 1)), "contradiction", "the table of 8 block starts reaches into the last stream", 8),
    ("table-overflows", edit(BASE, at(4, 2**31 - 1), at(8, 1)), "contradiction",
     "4 * nblocks exceeds 32 bits", 8),
    ("memcpyed-short", edit(COPY, at(12, 39), cut=39), "contradiction", "cbytes is one less than header + nbytes", 9),
    ("memcpyed-long", edit(COPY, at(12, 41), append=b"i"), "contradiction", "cbytes is one more than header + nbytes", 9),
    ("memcpyed-short-old", edit(OLD_COPY, at(12, 23), cut=23), "contradiction", "one byte too few", 9),
    ("memcpyed-and-vl", edit(COPY, (0x1e, b"\1")), "contradiction", "memcpyed and VL-blocks", 9),
    ("memcpyed-and-special", edit(COPY, (0x1f, b"\x10")), "contradiction", "memcpyed and a run of zeros", 9),
    ("start-0", edit(BASE, at(0x20, 0)), "contradiction", "a block starts at 0", 10),
    ("start-negative", edit(BASE, at(0x20, -1)), "contradiction", "a block start is negative", 10),
    ("start-in-header", edit(BASE, at(0x20, 4)), "contradiction", "a block starts in the header", 10),
    ("start-in-table", edit(BASE, at(0x20, 0x20)), "contradiction", "a block starts in the table", 10),
    ("start-at-end", edit(BASE, at(0x24, 0x38)), "contradiction", "a block starts at cbytes", 10),
    ("start-2-before-end", edit(BASE, at(0x24, 0x36)), "contradiction", "no room for the size of the stream", 10),
    ("start-max", edit(BASE, at(0x24, 2**31 - 1)), "contradiction", "a block starts at 2^31 - 1", 10),
    ("start-in-table-old", edit(OLD, at(0x10, 0x10)), "contradiction", "a block starts in the table", 10),
    ("csize-over-chunk", edit(BASE, at(0x30, 100)), "contradiction", "a payload ends after the chunk", 11),
    ("csize-max", edit(BASE, at(0x30, 2**31 - 1)), "contradiction", "csize is 2^31 - 1", 11),
    ("csize-missing", edit(BASE, at(12, 0x33), cut=0x33), "contradiction", "three bytes for a csize", 11),
    ("stored-cut", edit(BASE, at(12, 0x36), cut=0x36), "contradiction", "two of four stored bytes", 12),
    ("stored-cut-old", edit(OLD, at(12, 0x26), cut=0x26), "contradiction", "two of four stored bytes", 12),
    ("run-token-0", edit(RUN7, (0x2c, b"\0")), "contradiction", "bit 0 of the token is clear", 13),
    ("run-token-2", edit(RUN7, (0x2c, b"\2")), "contradiction", "bit 0 of the token is clear", 13),
    ("run-256", edit(RUN7, at(0x28, -256)), "contradiction", "a run of the byte 256", 13),
    ("run-min", edit(RUN7, at(0x28, -2**31)), "contradiction", "csize is -2^31", 13),
    ("run-token-missing", edit(BASE[:0x30], at(12, 0x30), at(0x20, 0x2c), at(0x24, 0x28), at(0x28, -7), at(0x2c, -7)),
     "contradiction", "the chunk ends where the token should be", 13),
    ("run-in-old", edit(OLD, at(0x18, 0)), "contradiction", "a run of zeros in version 2", 14),
    ("run-7-in-old", edit(OLD, at(0x18, -7)), "contradiction", "a run of sevens in version 2", 14),
    ("lz4-short-output", edit(CODED["lz4"], at(4, 301), at(8, 301)), "contradiction", "the codec gives 300 of 301 bytes", 15),
    ("lz4-long-output", edit(CODED["lz4"], at(4, 299), at(8, 299)), "contradiction", "the codec gives 300 for 299 bytes", 15),
    ("blosclz-short-output", edit(CODED["blosclz"], at(4, 301), at(8, 301)), "contradiction", "300 of 301 bytes", 15),
    ("blosclz-long-output", edit(CODED["blosclz"], at(4, 299), at(8, 299)), "contradiction", "300 for 299 bytes", 15),
    ("zlib-short-output", edit(CODED["zlib"], at(4, 301), at(8, 301)), "contradiction", "300 of 301 bytes", 15),
    ("zlib-long-output", edit(CODED["zlib"], at(4, 299), at(8, 299)), "contradiction", "300 for 299 bytes", 15),
    ("zlib-no-stream", edit(CODED["zlib"], (PAYLOAD, b"\0\0")), "contradiction", "no header of a zlib stream", 15),
    ("zlib-adler", edit(CODED["zlib"], (len(CODED["zlib"]) - 1, b"\xee")), "checksum", "the Adler-32 is another", 15),
    ("zstd-short-output", edit(CODED["zstd"], at(4, 301), at(8, 301)), "contradiction", "300 of 301 bytes", 15),
    ("zstd-long-output", edit(CODED["zstd"], at(4, 299), at(8, 299)), "contradiction", "300 for 299 bytes", 15),
    ("zstd-no-magic", edit(CODED["zstd"], (PAYLOAD, b"\0")), "contradiction", "no frame of Zstandard", 15),
    ("snappy-wrong-length", edit(SNAPPY, (OLD_PAYLOAD, b"\xad")), "contradiction", "the varint is 301, the block has 300 bytes", 15),
    ("split-3-of-4", edit(chunk(b"aaaabbbb", None, typesize=4, blocksize=4, split=True, runs=False), (3, b"\3")),
     "contradiction", "blocks of 4 bytes in 3 streams", 16),
    ("csize-less-and-no-codec-output", edit(BASE, at(0x30, 3)), "contradiction", "three bytes that are no LZ4 of four", 17),
    ("filter-5", edit(BASE, (0x15, b"\x05")), "unknown", "filter 5 is not defined", 18),
    ("filter-31", edit(BASE, (0x15, b"\x1f")), "unknown", "filter 31 is not defined", 18),
    ("filter-200", edit(BASE, (0x15, b"\xc8")), "unknown", "a user's filter", 18),
    ("codec-5", edit(CODED["lz4"], (2, b"\xb5")), "unknown", "format code 5 and a coded stream", 19),
    ("codec-7", edit(CODED["lz4"], (2, b"\xf5")), "unknown", "format code 7 and a coded stream", 19),
    ("codec-user-200", edit(CODED["lz4"], (2, b"\xd5"), (0x16, b"\xc8")), "unknown", "a user's codec", 19),
    ("snappy-in-version-5", edit(CODED["lz4"], (2, b"\x55")), "unknown", "Snappy is for version 2", 19),
    ("special-5", edit(special(1, 8), (0x1f, b"\x50")), "contradiction", "special kind 5", 20),
    ("special-7", edit(special(1, 8), (0x1f, b"\x70")), "contradiction", "special kind 7", 20),
    ("value-width-0", special(3, 8), "contradiction", "a repeated value of no bytes", 20),
    ("value-width-3", special(3, 8, 3, b"abc"), "contradiction", "3 does not divide 8", 20),
    ("value-wider-than-data", special(3, 8, 16, b"0123456789abcdef"), "contradiction", "16 bytes repeated to 8", 20),
    ("nan-typesize-2", special(2, 8, 2), "contradiction", "NaN of 2 bytes", 20),
    ("nan-no-whole-items", special(2, 6, 4), "contradiction", "NaN of 4 bytes in 6", 20),
    ("vl-starts-decrease", edit(VLB, at(0x20, 0x30), at(0x24, 0x28)), "contradiction", "starts are not increasing", 21),
    ("vl-starts-equal", edit(VLB, at(0x24, 0x28)), "contradiction", "two blocks start at one position", 21),
    ("vl-sum-less", edit(VLB, at(4, 9)), "contradiction", "the blocks have 8 of 9 bytes", 21),
    ("vl-sum-more", edit(VLB, at(4, 7)), "contradiction", "the blocks have 8 bytes for 7", 21),
    ("vl-size-negative", edit(VLB, at(0x28, -4)), "contradiction", "a block of -4 bytes", 21),
    ("vl-size-0", edit(VLB, at(0x28, 0), at(4, 4)), "contradiction", "a block of no bytes", 21),
    ("vl-sum-wraps", edit(VLB, at(0x28, 2**31 - 1), at(0x30, 2**31 - 1), at(4, -2 & 0x7fffffff)), "contradiction",
     "the sizes add up beyond 32 bits", 21),
    ("vl-nblocks-huge", edit(VLB, at(8, 2**28)), "contradiction", "2^28 block starts", 21),
    ("vl-nblocks-0", edit(VLB, at(8, 0)), "contradiction", "no blocks", 6),
    ("vl-and-special", edit(VLB, (0x1f, b"\x10")), "contradiction", "VL-blocks and a run", 9),
    ("vl-byte-after-block", edit(VLB, at(12, len(VLB) + 1), append=b"x"), "contradiction", "five bytes that are no LZ4 of four", 21),
    ("dict-over-start", edit(BASE, (0x1f, bytes([DICT]))), "contradiction", "a block starts in the dictionary", 22),
    ("dict-no-room", edit(BASE[:0x28], at(12, 0x28), (0x1f, bytes([DICT]))), "contradiction", "no room for the size of the dictionary", 22),
    ("dict-size-0", edit(WITH_DICT, at(0x28, 0)), "contradiction", "a dictionary of no bytes", 22),
    ("dict-size-negative", edit(WITH_DICT, at(0x28, -1)), "contradiction", "a dictionary of -1 bytes", 22),
    ("dict-size-32769", edit(WITH_DICT, at(0x28, 32769)), "contradiction", "one byte over the limit", 22),
    ("dict-over-chunk", edit(WITH_DICT, at(0x28, 30000)), "contradiction", "the dictionary ends after the chunk", 22),
    ("lazy", edit(BASE, (0x1f, b"\x08")), "contradiction", "a lazy chunk, which is a form in memory", 23),
    ("nbytes-bomb-zeros", edit(special(1, 8), at(4, -8)), "contradiction", "a run of a negative number of bytes", 5),
    ("value-bomb", special(3, 2**31 - 1, 255, bytes(255)), "contradiction", "255 does not divide 2^31 - 1", 24),
    ("split-into-nothing", edit(chunk(b"aaaabbbb", None, typesize=4, blocksize=4, split=True, runs=False), (3, b"\x08")),
     "contradiction", "blocks of 4 bytes in 8 streams", 16),
    ("typesize-255-split", edit(chunk(ramp(4, 4), None, blocksize=16, runs=False), (2, b"\x25"), (3, b"\xff")),
     "contradiction", "blocks of 16 bytes in 255 streams", 16),
    ("bit-3-in-version-2", edit(OLD, (2, b"\x38")), "contradiction", "bit 3 of the flags", 27),
    ("bits-0-and-2-in-version-2", edit(BASE, (0, b"\2")), "contradiction", "both filter bits in version 2", 27),
    ("versionlz-2", edit(OLD, (1, b"\2")), "contradiction", "version 2 of the stream format", 27),
    ("starts-differ-by-2-31", edit(BASE, at(0x20, -2**31), at(0x24, 2**31 - 1)), "contradiction",
     "the difference of the starts exceeds 32 bits", 30),
]


def damaged_streams():
    """Streams of codecs with one instruction damaged (codecs.md, chapters 3 to 5)."""
    def stored(payload, n, code, version=5):
        head = header(n, 0, version=version, flags=code << 5 | 16 | (5 if version > 2 else 0), typesize=1, blocksize=n)
        head += extension() if version > 2 else b""
        body = i32(len(head) + 4) + i32(len(payload)) + payload
        return edit(head + body, at(12, len(head) + len(body)))
    h = bytes.fromhex
    return [
        ("lz4-distance-0", stored(h("3d6162630000506361626358"), 25, 1), "a distance of 0", 0),
        ("lz4-distance-before-start", stored(h("3d6162630400506361626358"), 25, 1), "a match before the first byte", 0),
        ("lz4-literals-cut", stored(h("f0ff61"), 25, 1), "literals that are not there", 0),
        ("lz4-length-cut", stored(h("f0ffffff"), 25, 1), "a length that does not end", 0),
        ("lz4-ends-with-match", stored(h("3d6162630300"), 20, 1), "no literals after the last match", 0),
        ("blosclz-empty", stored(h("20"), 25, 0), "a literal that is not there", 2),
        ("blosclz-distance-before-start", stored(h("22616263e00c030058"), 25, 0), "a match before the first byte", 4),
        ("blosclz-literals-over", stored(h("3f616263"), 25, 0), "32 literals, of which 3 are there", 2),
        ("blosclz-ends-with-match", stored(h("22616263e00d02"), 25, 0), "a match as the last instruction", 3),
        ("blosclz-far-cut", stored(h("22616263ff00ff"), 25, 0), "a far match without its distance", 3),
        ("blosclz-output-short", stored(h("22616263e00b020058"), 25, 0), "24 of 25 bytes", 6),
        ("blosclz-output-over", stored(h("22616263e0ff0002005858"), 25, 0), "a match longer than the block", 5),
        ("snappy-offset-0", stored(h("1908616263520000" + "0058"), 25, 2, 2), "an offset of 0", 0),
        ("snappy-offset-before-start", stored(h("1908616263520400" + "0058"), 25, 2, 2), "a copy before the first byte", 0),
        ("snappy-literal-cut", stored(h("19f0ff61"), 25, 2, 2), "literals that are not there", 0),
        ("zstd-reserved-block", stored(h("28b52ffd2019070000"), 25, 4), "a block of the reserved type", 0),
        ("zstd-content-size", stored(h("28b52ffd201acb000061"), 25, 4), "a content size of 26 for 25 bytes", 0),
        ("zstd-window-huge", stored(h("28b52ffd00f8cb000061"), 25, 4), "a window of many GiB and an output of 25 bytes", 0),
        ("zstd-0.7", stored(h("27b52ffd2019cb000061"), 25, 4), "a frame of Zstandard 0.7", 0),
    ]


def cases(suite):
    families(suite)
    specials(suite)
    for name, content, error, why, entry in INVALID:
        checks = [f"chunk.md 4.1 ({entry})"] + ["codecs.md 3 (1)"] * (name == "run-in-old")
        suite.invalid(f"chunk/{name}", content, error, why, about=why, section="chunk.md 4.1", checks=checks)
    for name, content, why, entry in damaged_streams():
        checks = ["chunk.md 4.1 (15)"] + [f"codecs.md 3 ({entry})"] * (entry > 0)
        error = "unknown" if name == "zstd-0.7" else "contradiction"
        suite.invalid(f"chunk/{name}", content, error, why, about=f"a damaged stream: {why}", section="codecs.md", checks=checks)


def families(suite):
    """Codecs with filters, item sizes, splits and versions."""
    def add(name, about, data, section="chunk.md 2", content=None, checks=(), **params):
        suite.valid(f"chunk/{name}", content or chunk(data, **params), data, about=about, section=section,
                    checks=checks,
                    since=since(params.get("version", 5), params.get("codec", "lz4"), params.get("pipeline", ()),
                                dictionary=params.get("dictionary")),
                    until="C-Blosc 1.13" if params.get("version") == 1 else None)

    pipelines = {
        "none": (), "shuffle": ("shuffle",), "bitshuffle": ("bitshuffle",), "delta": ("delta",),
        "delta-shuffle": ("delta", "shuffle"),
    }
    for codec in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"):
        for filter, pipeline in pipelines.items():
            for typesize in (1, 3, 8):
                data = ramp(1000 // typesize, typesize, 3) + b"tail"[:typesize - 1]
                add(f"{codec}-{filter}-typesize{typesize}", f"{codec} with {filter}, items of {typesize} bytes, a leftover block",
                    data, codec=codec, pipeline=pipeline, typesize=typesize, blocksize=240)
        for typesize in (2, 4, 16):
            data = ramp(960 // typesize, typesize, 5)
            add(f"{codec}-split-typesize{typesize}", f"{codec} with shuffle, blocks split into {typesize} streams", data,
                section="chunk.md 2.4", codec=codec, pipeline=("shuffle",), typesize=typesize, blocksize=320, split=True)
    for codec in ("blosclz", "lz4", "snappy", "zlib", "zstd"):
        for filter in ("none", "shuffle", "bitshuffle"):
            for typesize in (1, 4, 17):
                split = typesize == 4
                blocksize = {1: 512, 4: 512, 17: 544}[typesize]
                data = ramp(1200 // typesize, typesize, 3)
                # The last block has a multiple of 8 items, or else the filter copies it.
                add(f"old-{codec}-{filter}-typesize{typesize}", f"Blosc 1: {codec} with {filter}, items of {typesize} bytes", data,
                    section="chunk.md 1.2", codec=codec, pipeline=pipelines[filter], typesize=typesize, blocksize=blocksize,
                    split=split, version=2)
    data = text(700)
    for version in (1, 2, 3, 4, 5):
        params = dict(codec="lz4", typesize=1, blocksize=200, version=version)
        add(f"version-{version}", f"version {version}", data, section="chunk.md 1.1", checks="chunk.md 4.1 (2)", **params)
    add("version-5-big-endian", "written on a big-endian machine", data, section="chunk.md 1.3", typesize=1, blosc2_flags=BIG_ENDIAN)
    for nbytes in (1, 2, 3, 4, 5, 31, 32, 33, 255, 256, 257, 511, 512, 513):
        data = text(nbytes)
        add(f"length-{nbytes}", f"{nbytes} bytes in blocks of 256", data, section="chunk.md 2.2", pipeline=("shuffle",))
        add(f"old-length-{nbytes}", f"Blosc 1: {nbytes} bytes in blocks of 256", data, section="chunk.md 2.2", pipeline=("shuffle",),
            typesize=4, version=2)
    for typesize in (1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 32, 100, 255):
        data = ramp(40, typesize, 251) + b"xyz"[:min(3, typesize - 1)]
        for filter in ("shuffle", "bitshuffle", "delta"):
            add(f"typesize{typesize}-{filter}", f"items of {typesize} bytes, {filter}", data, section="filters.md",
                pipeline=(filter,), typesize=typesize, blocksize=16 * typesize)
    others = [
        ("shuffle-group2", (("shuffle", 2),), 4), ("shuffle-group200", (("shuffle", 200),), 4),
        ("shuffle-twice", ("shuffle", "shuffle"), 4), ("bytedelta", ("shuffle", ("bytedelta", 4)), 4),
        ("bytedelta-3-streams", (("bytedelta", 3),), 4), ("bytedelta-old", ("shuffle", ("bytedelta_old", 4)), 4),
        ("bitshuffle-bytedelta", ("bitshuffle", ("bytedelta", 8)), 8), ("shuffle-bitshuffle", ("shuffle", "bitshuffle"), 4),
        ("delta-bitshuffle", ("delta", "bitshuffle"), 8), ("shuffle-shuffle-bitshuffle", ("shuffle", "shuffle", "bitshuffle"), 2),
    ]
    for name, pipeline, typesize in others:
        data = ramp(150, typesize, 77) + b"z"
        add(f"pipeline-{name}", f"filters: {name}", data, section="filters.md 2", checks="chunk.md 4.1 (18)", pipeline=pipeline,
            typesize=typesize, blocksize=256)
    for name, filter, typesize, meta, low in (
        ("trunc_prec-10", "trunc_prec", 4, 10, 13), ("trunc_prec-minus13", "trunc_prec", 4, -13, 13),
        ("trunc_prec-20-f8", "trunc_prec", 8, 20, 32), ("int_trunc-12", "int_trunc", 4, 12, 20),
        ("int_trunc-minus8", "int_trunc", 4, -8, 8), ("int_trunc-3-i1", "int_trunc", 1, 3, 5),
    ):
        source = noise(600)
        data = filters.mask(source, typesize, low)
        # A reader gives the bytes after the loss: the filter has changed them for good.
        suite.valid(f"chunk/lossy-{name}", chunk(source, "lz4", ((filter, meta), "shuffle"), typesize, 200), data,
                    about=f"{filter} with meta {meta}", section="filters.md 7", since=since(5, "lz4", (filter,)))
    data = text(1024)
    add("blocks-reversed", "blocks stored last to first", data, section="chunk.md 2.2", order=[3, 2, 1, 0], checks="chunk.md 4.1 (10)")
    add("blocks-out-of-order", "blocks in the order of threads", data, section="chunk.md 2.2", order=[2, 0, 3, 1])
    add("delta-blocks-reversed", "delta, and the first block stored last", ramp(256, 4, 9), pipeline=("delta",), order=[3, 2, 1, 0],
        checks="chunk.md 4.1 (28)")
    add("noise", "streams that are stored", noise(1000), codec="zstd", typesize=1)
    add("one-block", "one block of all data", data, blocksize=1024)
    add("block-of-one-item", "blocks of one item", ramp(20, 4), blocksize=4)
    add("dict-lz4", "LZ4 with a dictionary", data, section="chunk.md 2.6", dictionary=text(200), typesize=1, checks="chunk.md 4.1 (22)")
    add("dict-lz4hc", "LZ4HC with a dictionary", data, section="chunk.md 2.6", codec="lz4hc", dictionary=text(300), typesize=1)
    add("dict-lz4-split", "split blocks with a dictionary", ramp(200, 4, 7), section="chunk.md 2.6", pipeline=("shuffle",), blocksize=400,
        split=True, dictionary=bytes(range(64)))
    add("far-match", "BloscLZ matches of 7,000 bytes back", noise(7000) + noise(7000), codec="blosclz", typesize=1, blocksize=14000,
        section="codecs.md 3")
    add("long-match", "matches of thousands of bytes", b"ab" * 2000 + b"tail of the data", typesize=1, blocksize=5000, section="codecs.md 4")
    add("snappy-longer", "a Snappy stream longer than its data", noise(30), content=snappy_longer(), version=2, codec="snappy",
        section="codecs.md 5")


def snappy_longer():
    payload = codecs.snappy(noise(30))
    head = header(30, 24 + len(payload), version=2, flags=2 << 5 | NOT_SPLIT, typesize=1, blocksize=30)
    return head + i32(20) + i32(len(payload)) + payload


def specials(suite):
    def add(name, content, data, about, section="chunk.md 2.5", release="C-Blosc2 2.0.3", checks="chunk.md 4.1 (20)"):
        suite.valid(f"chunk/{name}", content, data, about=about, section=section, since=release, checks=checks)

    for typesize in (1, 4, 8):
        add(f"zeros-typesize{typesize}", special(1, 800, typesize), bytes(800), f"a chunk of zeros, items of {typesize} bytes")
    add("zeros-cut-item", special(1, 801, 4), bytes(801), "zeros that end within an item")
    add("nan-f4", special(2, 800, 4), bytes.fromhex("0000c07f") * 200, "a chunk of NaN, single precision")
    add("nan-f8", special(2, 800, 8), bytes.fromhex("000000000000f87f") * 100, "a chunk of NaN, double precision")
    for width in (1, 2, 3, 4, 8, 16, 255):
        value = bytes(range(1, width + 1))
        add(f"value-{width}", special(3, 24 * width, width, value), value * 24, f"a repeated value of {width} bytes")
    add("value-wider-than-typesize", special(3, 800, 1, b"0123456789"), b"0123456789" * 80,
        "a value of 10 bytes with typesize 1: the number of bytes counts")
    add("value-no-data", special(3, 0, 4, b"abcd"), b"", "no data and a value", section="chunk.md 6")
    add("empty", memcpyed(b""), b"", "no data", section="chunk.md 2.1", checks=[])
    add("empty-old", memcpyed(b"", version=2), b"", "no data, Blosc 1", section="chunk.md 2.1", release="C-Blosc 1.0", checks=[])
    add("empty-with-body", edit(BASE, at(4, 0)), b"", "nbytes 0, whatever follows", section="chunk.md 2.1", checks="chunk.md 4.1 (5)")
    add("memcpyed", memcpyed(text(100)), text(100), "a copy", section="chunk.md 2.1", checks="chunk.md 4.1 (9)")
    add("memcpyed-old", memcpyed(text(100), version=2), text(100), "a copy, Blosc 1", section="chunk.md 2.1", release="C-Blosc 1.0",
        checks="chunk.md 4.1 (9)")
    add("memcpyed-old-shuffle-bit", memcpyed(text(100), version=2, flags=3), text(100), "a copy whose filter bit means nothing",
        section="chunk.md 2.1", release="C-Blosc 1.0", checks=[])
    add("run-0", chunk(bytes(4) + b"efgh", None, typesize=1, blocksize=4), bytes(4) + b"efgh", "a stream of zeros",
        section="chunk.md 2.3", checks="chunk.md 4.1 (13)")
    for value in (1, 7, 128, 255):
        data = bytes([value]) * 4 + b"efgh"
        add(f"run-{value}", chunk(data, None, typesize=1, blocksize=4), data, f"a stream of the byte {value}",
            section="chunk.md 2.3", checks="chunk.md 4.1 (13)")
    add("run-token-ff", edit(RUN7, (0x2c, b"\xff")), b"\7\7\7\7efgh", "bit 0 of the token counts", section="chunk.md 2.3",
        checks="chunk.md 4.1 (13)")
    shared = edit(BASE[:0x30], at(12, 0x30), at(0x24, 0x28))
    add("blocks-share-bytes", shared, b"abcdabcd", "two blocks with the same bytes", section="chunk.md 2.2", checks="chunk.md 4.1 (26)")
    add("bytes-after-chunk", BASE + b"garbage", b"abcdefgh", "bytes after cbytes", section="chunk.md 4", checks="chunk.md 4.1 (3)")
    add("short-header-version-3", edit(OLD, (0, b"\3")), b"abcdefgh", "a short header in version 3", section="chunk.md 1.1",
        release="C-Blosc2 2.0.0", checks="chunk.md 4.1 (2)")
    add("short-header-version-5", edit(OLD, (0, b"\5")), b"abcdefgh", "a short header in version 5", section="chunk.md 1.1",
        release="C-Blosc2 2.0.3", checks="chunk.md 4.1 (2)")
    add("vl-split-bit-clear", edit(VLB, (2, bytes([VLB[2] & ~NOT_SPLIT]))), b"abcdefgh", "VL-blocks are never split, whatever bit 4 says",
        section="chunk.md 2.7", release="C-Blosc2 3.0", checks="chunk.md 4.1 (21)")
    add("codec-7-stored", edit(BASE, (2, b"\xf5")), b"abcdefgh", "an unknown codec that no stream needs", section="chunk.md 1.2",
        checks="chunk.md 4.1 (19)")
    add("blocksize-over-nbytes", edit(chunk(b"abcdefgh", None, typesize=1, blocksize=8), at(8, 100)), b"abcdefgh",
        "a block size larger than the data", section="chunk.md 2.2", checks="chunk.md 4.1 (6)")
    add("dict-unused-blosclz", chunk(text(300), "blosclz", typesize=1, blocksize=300, dictionary=b"DICTIONARY"), text(300),
        "BloscLZ with a dictionary, which it ignores", section="chunk.md 2.6", checks="chunk.md 4.1 (22)")
    blocks = [b"one", text(200), b"x", bytes(90) + b"end"]
    for codec in (None, "blosclz", "lz4", "zlib", "zstd"):
        add(f"vl-{codec or 'stored'}", vl_chunk(blocks, codec), b"".join(blocks), f"VL-blocks, {codec or 'stored'}",
            section="chunk.md 2.7", release="C-Blosc2 3.0", checks="chunk.md 4.1 (21)")
    add("vl-one-block", vl_chunk([text(500)]), text(500), "one VL-block", section="chunk.md 2.7", release="C-Blosc2 3.0", checks=[])
    many = [text(n % 40 + 1) for n in range(100)]
    add("vl-100-blocks", vl_chunk(many), b"".join(many), "100 VL-blocks", section="chunk.md 2.7", release="C-Blosc2 3.0", checks=[])
    add("vl-shuffle", vl_chunk([ramp(60, 4), ramp(9, 4, 1000)], pipeline=("shuffle",), typesize=4), ramp(60, 4) + ramp(9, 4, 1000),
        "VL-blocks with shuffle", section="chunk.md 2.7", release="C-Blosc2 3.0", checks=[])
    add("vl-delta", vl_chunk([ramp(60, 4), ramp(9, 4, 1000)], pipeline=("delta",), typesize=4), ramp(60, 4) + ramp(9, 4, 1000),
        "VL-blocks with delta: each is a first block", section="chunk.md 6", release="C-Blosc2 3.0", checks=[])
    add("vl-dict", vl_chunk([text(90), text(120)], dictionary=text(64)), text(90) + text(120), "VL-blocks with a dictionary",
        section="chunk.md 2.7", release="C-Blosc2 3.0", checks=[])
    add("instrumented-copy", edit(COPY, (0x1f, b"\x80")), b"abcdefgh", "a copy with the bit of statistics, which are of streams",
        section="chunk.md 2.8", checks="chunk.md 4.1 (29)")
    add("odd-item-at-end", chunk(ramp(33, 4) + b"abc", pipeline=("shuffle",), blocksize=64), ramp(33, 4) + b"abc",
        "a cut item at the end", section="chunk.md 2.2", checks="chunk.md 4.1 (25)")
    suite.undefined("chunk/instrumented", edit(chunk(noise(64), None, typesize=1, blocksize=64), (0x1f, b"\x80")),
                    "a reader may return the records or refuse", about="statistics with a stream of 64 bytes", section="chunk.md 2.8",
                    checks="chunk.md 4.1 (29)")
    suite.undefined("chunk/uninit", special(4, 800, 4), "the writer set no data; our reader gives zeros", about="a chunk never set",
                    section="chunk.md 2.5", checks="chunk.md 4.1 (29)")
    suite.undefined("chunk/zeros-2gib", special(1, 2**31 - 1 - 32, 1), "a reader may have a limit of memory", about="2 GiB of zeros in 32 bytes",
                    section="chunk.md 2.5", checks="chunk.md 4.1 (24)")
    suite.undefined("chunk/vl-version-5", edit(VLB, (0, b"\5")), "versions do not differ, but version 6 is what writers use",
                    b"abcdefgh", about="VL-blocks in version 5", section="chunk.md 1.1")
    suite.undefined("chunk/memcpyed-dict-bit", memcpyed(b"\1\0\0\0efgh", blosc2_flags=DICT), "C-Blosc2 writes and refuses it",
                    b"\1\0\0\0efgh", about="a copy with the bit of a dictionary", section="chunk.md 6")
