"""Contiguous and sparse frames (docs/formats/cframe.md, sframe.md)."""

from .chunk import chunk, memcpyed, special, vl_chunk
from .suite import big, edit, i64, noise, ramp, text

ZEROS, NAN, UNINIT = (kind << 56 for kind in (0x81, 0x82, 0x84))
RELEASE = "C-Blosc2 2.0.0"


def metalayers(layers, start, before, prefix=b"\x93"):
    """Chapter 3: the section of named byte strings; `start` is its position, `before` what the size counts."""
    names, values = b"\xde" + big(len(layers), 2), b"\xdc" + big(len(layers), 2)
    at = start + 4 + 3 + sum(6 + len(name) for name in layers) + 3
    for name, content in layers.items():
        names += bytes([0xA0 + len(name)]) + name.encode() + b"\xd2" + big(at, 4)
        values += b"\xc6" + big(len(content), 4) + content
        at += 5 + len(content)
    return b"\x93\xcd" + big(before + 3 + len(names), 2) + names + values


def header(header_len, frame_len, nbytes, cbytes, *, typesize=4, blocksize=0, chunk_size=1, flags=0x12,
           frame_type=0, has_vlmeta=False, filters=b"\0\0\0\0\0\1", codec=0x51, udcodec=1):
    """Chapter 2: the 87 bytes."""
    return (
        b"\x9e\xa8b2frame\0" + b"\xd2" + big(header_len, 4) + b"\xcf" + big(frame_len, 8)
        + b"\xa4" + bytes([flags, frame_type, codec, 3])
        + b"\xd3" + big(nbytes, 8) + b"\xd3" + big(cbytes, 8)
        + b"\xd2" + big(typesize, 4) + b"\xd2" + big(blocksize, 4) + b"\xd2" + big(chunk_size, 4)
        + b"\xd1\0\1\xd1\0\1" + (b"\xc3" if has_vlmeta else b"\xc2")
        + b"\xd8\6" + filters + bytes([udcodec, 0]) + bytes(6) + b"\0\0"
    )


def trailer(vlmeta, gap=b""):
    """Chapter 7; `gap` breaks it: bytes between the section and the length."""
    layers = {name: memcpyed(content) for name, content in vlmeta.items()}
    # Positions count from the trailer's first byte, the size from the marker after 93.
    section = metalayers(layers, 2, 0)
    length = 2 + len(section) + len(gap) + 23
    return b"\x94\x01" + section + gap + b"\xce" + big(length, 4) + b"\xd8\0" + bytes(16)


def index_chunk(numbers, compress):
    data = b"".join(i64(number) for number in numbers)
    if len(set(numbers)) == 1 and len(numbers) > 1:
        return special(3, len(data), 8, data[:8])
    return chunk(data, "blosclz", ("shuffle",), 8, 16384) if compress else memcpyed(data, typesize=8)


def parts(chunks, nbytes, chunk_size, sparse, layers, vlmeta, compress_index, gap, order, hole, **fields):
    """The bytes of the frame without its chunks, and its chunks with their numbers."""
    section = metalayers(layers, 0x57, 1)
    header_len, at, numbers, stored = 0x57 + len(section), 0, [0] * len(chunks), []
    for place in order or range(len(chunks)):
        item = chunks[place]
        if isinstance(item, int):
            numbers[place] = item
            continue
        numbers[place] = len(stored) if sparse else at
        stored.append(item)
        at += len(item) + gap
    cbytes = sum(map(len, stored)) + (gap * len(stored))
    index = index_chunk(numbers, compress_index) if nbytes else b""
    index += bytes(hole)
    end = trailer(vlmeta)
    data = b"" if sparse else b"".join(item + bytes(gap) for item in stored)
    head = header(header_len, header_len + len(data) + len(index) + len(end), nbytes, cbytes, chunk_size=chunk_size,
                  frame_type=int(sparse), has_vlmeta=bool(vlmeta), **fields)
    return head + section + data + index + end, stored


def frame(chunks, nbytes, chunk_size, *, layers={}, vlmeta={}, compress_index=False, gap=0, order=None, hole=0, **fields):
    """A contiguous frame; items of `chunks` are chunks, or numbers of runs (chapter 6)."""
    return parts(chunks, nbytes, chunk_size, False, layers, vlmeta, compress_index, gap, order, hole, **fields)[0]


def sframe(chunks, nbytes, chunk_size, *, layers={}, vlmeta={}, compress_index=False, order=None, **fields):
    """A sparse frame: the files of the directory."""
    main, stored = parts(chunks, nbytes, chunk_size, True, layers, vlmeta, compress_index, 0, order, 0, **fields)
    return {"chunks.b2frame": main, **{f"{n:08X}.chunk": item for n, item in enumerate(stored)}}


def split(data, chunk_size, **params):
    """The chunks of data."""
    return [chunk(data[i:i + chunk_size], **params) for i in range(0, len(data), chunk_size)]


def cases(suite):
    for format, build, document in (("frame", frame, "cframe.md"), ("sframe", sframe, "sframe.md")):
        common(suite, format, build, document)
    contiguous(suite)
    seals(suite)
    sparse(suite)


def common(suite, format, build, document):
    """Cases of both kinds of frames."""
    def add(name, about, content, data, section=f"{document} 2" if document == "cframe.md" else document, release=RELEASE, **fields):
        suite.valid(f"{format}/{name}", content, data, about=about, section=section, since=release, **fields)

    for codec in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"):
        for filter in ((), ("shuffle",), ("bitshuffle",)):
            data = ramp(300, 4, 3)
            name = filter[0] if filter else "none"
            add(f"{codec}-{name}", f"three chunks, {codec} with {name}", build(
                split(data, 480, codec=codec, pipeline=filter, blocksize=240), len(data), 480), data)
    for length in (1, 3, 4, 31, 32, 33, 399, 400, 401, 800):
        data = text(length)
        add(f"length-{length}", f"{length} bytes in chunks of 400", build(split(data, 400, typesize=1, blocksize=100), length, 400, typesize=1),
            data, section="cframe.md 9")
    for typesize in (1, 2, 3, 8, 16, 255):
        data = ramp(50, typesize, 9)
        add(f"typesize{typesize}", f"items of {typesize} bytes", build(
            split(data, 20 * typesize, pipeline=("shuffle",), typesize=typesize, blocksize=20 * typesize), len(data), 20 * typesize,
            typesize=typesize), data)
    data = noise(1200)
    add("typesize300", "items of 300 bytes; chunks say 1", build(split(data, 600, typesize=1), 1200, 600, typesize=300), data)
    data = text(900)
    coded = split(data, 300, typesize=1, blocksize=100)
    base = dict(typesize=1)
    add("metalayers", "three metalayers", build(coded, 900, 300, layers={"one": b"\x01", "two": b"\xa3abc", "x" * 31: bytes(100)}, **base),
        data, section="cframe.md 3", metadata={"one": "01", "two": "a3616263", "x" * 31: "00" * 100})
    layers = {f"layer{i}": bytes([i]) for i in range(16)}
    add("metalayers-16", "as many metalayers as there can be", build(coded, 900, 300, layers=layers, **base), data, section="cframe.md 3",
        metadata={name: value.hex() for name, value in layers.items()})
    vlmeta = {"title": b"\xa5hello", "list": b"\x93\x01\x02\x03"}
    add("vlmetalayers", "two vlmetalayers", build(coded, 900, 300, vlmeta=vlmeta, **base), data, section="cframe.md 7",
        metadata={name: value.hex() for name, value in vlmeta.items()})
    add("order-reversed", "chunks in another order than their offsets", build(coded, 900, 300, order=[2, 1, 0], **base), data,
        section="cframe.md 5")
    add("index-compressed", "a compressed index of 60 chunks", build(split(data, 15, typesize=1), 900, 15, compress_index=True, **base), data,
        section="cframe.md 5")
    add("empty", "no data", build([], 0, 300, **base), b"", section="cframe.md 8")
    add("empty-metadata", "metadata and no data", build([], 0, 300, layers={"m": b"\xc0"}, vlmeta=vlmeta, **base), b"", section="cframe.md 8")
    runs = [
        ("zeros", [ZEROS] * 3, 4, bytes(1200)), ("zeros-between", [split(ramp(100, 4), 400)[0], ZEROS, split(ramp(50, 4), 400)[0]], 4,
                                                  ramp(100, 4) + bytes(400) + ramp(50, 4)),
        ("nan-f4", [NAN] * 3, 4, bytes.fromhex("0000c07f") * 300), ("nan-f8", [NAN] * 3, 8, bytes.fromhex("000000000000f87f") * 150),
        ("value", [special(3, 400, 4, b"\1\2\3\4")] * 3, 4, b"\1\2\3\4" * 300),
        ("zeros-last-short", [ZEROS] * 3, 4, bytes(1000)),
    ]
    for name, chunks, typesize, data in runs:
        add(f"run-{name}", f"runs: {name}", build(chunks, len(data), 400, typesize=typesize), data, section="cframe.md 6")
    suite.undefined(f"{format}/run-uninit", build([UNINIT] * 3, 1200, 400), "the writer set no data; our reader gives zeros",
                    about="chunks never set", section="cframe.md 6")
    sizes = [text(n) for n in (100, 7, 250, 1)]
    add("variable-sizes", "version 3: every chunk has its own size", build([chunk(part, typesize=1) for part in sizes], 358, 0, flags=0x53, **base),
        b"".join(sizes), section="cframe.md 11", release="C-Blosc2 3.0")
    blocks = [[text(50), b"x"], [text(9), text(200), b"yz"]]
    add("vl-blocks", "version 3: chunks of VL-blocks", build([vl_chunk(part) for part in blocks], 262, 0, flags=0xD3, **base),
        b"".join(b"".join(part) for part in blocks), section="cframe.md 11", release="C-Blosc2 3.0")
    add("many-runs-one-number", "65,536 chunks of zeros described by 40 bytes", build([ZEROS] * 65536, 65536 * 4, 4), bytes(65536 * 4),
        section="cframe.md 5")


def contiguous(suite):
    def add(name, about, content, data, section, release=RELEASE, **fields):
        suite.valid(f"frame/{name}", content, data, about=about, section=section, since=release, **fields)

    data = text(900)
    coded = split(data, 300, typesize=1, blocksize=100)
    add("gaps", "unused bytes between chunks", frame(coded, 900, 300, gap=50, typesize=1), data, "cframe.md 4")
    add("hole-before-trailer", "unused bytes between index and trailer", frame(coded, 900, 300, hole=64, typesize=1), data, "cframe.md 1")
    add("bytes-after", "bytes after the frame", frame(coded, 900, 300, typesize=1) + b"anything", data, "cframe.md 1")
    whole = frame(coded, 900, 300, typesize=1, vlmeta={"v": b"\x01"})
    add("flag-of-vlmetalayers-wrong", "byte 0x44 says there are no vlmetalayers", edit(whole, (0x44, b"\xc2")), data, "cframe.md 14",
        metadata={"v": "01"})
    add("chunks-share-bytes", "two entries of the index refer to one chunk", shared(), text(300) * 3, "cframe.md 5")
    empty = frame([], 0, 300, typesize=1)
    add("empty-stale-cbytes", "no data and an old cbytes", edit(empty, (0x27, big(5000, 8))), b"", "cframe.md 8")
    suite.invalid("frame/run-of-runs-bomb", frame([ZEROS] * 4, 2**60, 2**28, typesize=1), "contradiction",
                  "2^32 chunks and an index of 4", about="2^60 bytes of runs", section="cframe.md 13", checks="cframe.md 9.1 (21)")
    two = frame([ZEROS, chunk(b"abcd" * 20, typesize=4), ZEROS], 280, 0, flags=0x53)
    suite.invalid("frame/variable-two-runs", two, "contradiction", "the sizes of two runs are lost", about="variable sizes and two runs",
                  section="cframe.md 11", checks="cframe.md 9.1 (26)")
    mixed = frame([vl_chunk([b"abc", b"defgh"]), chunk(b"regular chunk in a frame of VL-blocks", typesize=1)], 45, 0, flags=0xD3, typesize=1)
    suite.invalid("frame/vl-mixed", mixed, "contradiction", "a regular chunk in a frame of VL-blocks", about="regular and VL-block chunks",
                  section="cframe.md 11", checks="cframe.md 9.1 (28)")
    end = trailer({"v": b"\1"})
    longer = edit(whole[:-len(end)], (0x10, big(len(whole) + 1, 8))) + trailer({"v": b"\1"}, b"\0")
    suite.invalid("frame/trailer-gap", longer, "contradiction", "a byte between the vlmetalayers and the length of the trailer", about="a byte too many in the trailer",
                  section="cframe.md 7", checks="cframe.md 9.1 (19)")
    one = frame([memcpyed(text(64)), memcpyed(text(64))], 128, 64, typesize=1)
    for name, at, new, why, error, entry in (
        ("chunk-cut", None, None, "the file ends within a chunk", "truncated", 5),
        ("chunk-version-9", 97, b"\x09", "chunk 0 has version 9", "unknown", 27),
        ("chunk-nbytes-63", 97 + 4, b"\x3f\0\0\0\0\0\0\0\x5f", "chunk 0 has 63 of 64 bytes", "contradiction", 24),
    ):
        content = one[:150] if at is None else edit(one, (at, new))
        suite.invalid(f"frame/{name}", content, error, why, about=why, section="cframe.md 9", checks=f"cframe.md 9.1 ({entry})")


def seals(suite):
    """Sums of seal.md, which other readers ignore. They are numbers here, since the standard library has no XXH3."""
    data = text(100)
    chunks = [memcpyed(data[i:i + 40]) for i in range(0, 100, 40)]

    def sealed(header_sum, table, body_sum, cut=0):
        sums = b"".join(big(entry, 8) for entry in table)
        layer = b"\x94\1\xcf" + big(header_sum, 8) + b"\xcf" + bytes(8) + b"\xc6" + big(len(sums), 4) + sums[:len(sums) - cut]
        whole = frame(chunks, 100, 40, vlmeta={"b2seal": layer}, typesize=1)
        return edit(whole, (len(whole) - 17, b"\3" + big(body_sum, 16)))

    sums = 0x82beac8cdf95d108, (0x59bc0418f386ad3f, 0x8f814ad0b968b870, 0x86301c923635aa16), 0x15320e5f6120c676632b70920a373a27
    whole = sealed(*sums)
    for name, about, content in (
        ("body", "a body sum", sealed(0x3b385033fadb93e5, (), 0x6a1a9a18107061e840a43a0e1844e4b0)),
        ("chunks", "a body sum, and a sum for each chunk", whole),
        ("removed", "a seal without its body sum, as a writer leaves it that knows of no seals", edit(whole, (len(whole) - 17, bytes(17)))),
    ):
        suite.valid(f"frame/seal-{name}", content, data, about=about, section="seal.md", since=RELEASE)
    for name, about, content, found in (
        ("chunk-changed", "a chunk that was changed after the seal", edit(whole, (97 + 32, b"X")), b"X" + data[1:]),
        ("sum-changed", "a bit of the body sum", edit(whole, (len(whole) - 1, bytes([whole[-1] ^ 1]))), data),
        ("layer-cut", "the sums of the chunks are a byte short", sealed(*sums, cut=1), data),
    ):
        suite.undefined(f"frame/seal-{name}", content, "a reader that knows of seals refuses", found, about=about, section="seal.md")


def shared():
    """Three entries for the one chunk in the data section."""
    whole = frame([chunk(text(300), typesize=1)] * 3, 900, 300, typesize=1)
    first = len(chunk(text(300), typesize=1))
    cut = whole[:97 + first]
    end = special(3, 24, 8, i64(0)) + trailer({})
    return edit(cut + end, (0x10, big(len(cut) + len(end), 8)), (0x27, big(first, 8)))


def sparse(suite):
    data = text(900)
    files = sframe(split(data, 300, typesize=1, blocksize=100), 900, 300, typesize=1)

    def add(name, about, content, **fields):
        suite.valid(f"sframe/{name}", content, data, about=about, section="sframe.md", since=RELEASE, **fields)

    add("other-files", "files that nothing refers to", {**files, "0000000A.chunk": b"", "notes.txt": b"hello"})
    renamed = {**files, "000000AB.chunk": files["00000001.chunk"]}
    del renamed["00000001.chunk"]
    main = files["chunks.b2frame"]
    at = main.index(i64(1), 97 + 32)
    renamed["chunks.b2frame"] = edit(main, (at, i64(0xAB)))
    add("file-number-ab", "a chunk file with upper-case digits", renamed, checks="sframe.md checks (4)")
    longer = {**files, "00000001.chunk": files["00000001.chunk"] + b"rest"}
    add("chunk-file-longer", "a chunk file with bytes after its chunk", longer, checks="sframe.md checks (3)")

    def refused(name, content, error, why, entry):
        suite.invalid(f"sframe/{name}", content, error, why, about=why, section="sframe.md", checks=f"sframe.md checks ({entry})")

    refused("frame-type-0", {**files, "chunks.b2frame": edit(main, (0x1A, b"\0"))}, "contradiction", "frame_type 0 in a directory", 1)
    refused("frame-type-2", {**files, "chunks.b2frame": edit(main, (0x1A, b"\2"))}, "contradiction", "frame_type 2", 1)
    missing = dict(files)
    del missing["00000001.chunk"]
    refused("chunk-missing", missing, "truncated", "the file of chunk 1 is not there", 2)
    refused("chunk-empty", {**files, "00000001.chunk": b""}, "truncated", "the file of chunk 1 has no bytes", 3)
    refused("chunk-cut", {**files, "00000001.chunk": files["00000001.chunk"][:-1]}, "truncated", "the file of chunk 1 is one byte short", 3)
    refused("number-2-32", {**files, "chunks.b2frame": edit(main, (at, i64(2**32)))}, "contradiction", "a number of a file beyond 32 bits", 4)
    refused("chunk-of-other-size", {**files, "00000001.chunk": chunk(text(299), typesize=1)}, "contradiction",
            "the file of chunk 1 has 299 of 300 bytes", 5)
    nothing = {name: content for name, content in files.items() if name != "chunks.b2frame"}
    refused("no-index", nothing, "unknown", "chunk files and no chunks.b2frame", 1)
    refused("index-cut", {**files, "chunks.b2frame": main[:-1]}, "truncated", "chunks.b2frame is one byte short", 1)
