"""Writes conformance/samples/*/generated with the oracles; run by `cargo xtask fixtures`.

usage: python fixtures.py TESTDATA [NAME...]

Prints one JSON object per file, which becomes its entry in the manifest. With names, writes only those files.
The content of each file is decoded by the program that wrote it, and the digest is taken of that. Everything is
the same on every run, except the one file that shows what several threads do (see `multithread`): it is kept
where it exists.
"""

import hashlib
import json
import pathlib
import struct
import sys

import blosc
import blosc2
import numcodecs
import numpy as np
import zarr

BLOSC2 = f"{blosc2.__version__} (C-Blosc2 {blosc2.blosclib_version.split()[0]})"
BLOSC1 = f"{blosc.__version__} (C-Blosc {blosc.blosclib_version.split()[0]})"
NUMCODECS = numcodecs.__version__
ZARR = f"{zarr.__version__} (numcodecs {NUMCODECS})"

CODECS = {"blosclz": 0, "lz4": 1, "lz4hc": 2, "zlib": 4, "zstd": 5}
SHUFFLE, BITSHUFFLE, DELTA, TRUNC_PREC = 1, 2, 3, 4
FILTERS = {
    "none": ([], []),
    "shuffle": ([0, 0, 0, 0, 0, SHUFFLE], []),
    "bitshuffle": ([0, 0, 0, 0, 0, BITSHUFFLE], []),
    "delta": ([0, 0, 0, 0, DELTA, SHUFFLE], []),
    "truncprec": ([TRUNC_PREC, SHUFFLE], [10, 0]),
}


# Data ---------------------------------------------------------------------------------------------------


def walk(nitems, dtype="<i4", seed=1):
    """Items that move a little from one to the next."""
    steps = np.random.RandomState(seed).randint(-3, 4, nitems)
    return np.cumsum(steps).astype(dtype)


def noise(nbytes, seed=2):
    """Bytes that no codec makes smaller."""
    return np.random.RandomState(seed).bytes(nbytes)


def text(nbytes):
    words = b"block chunk frame filter codec header offset trailer index value".split()
    picks = np.random.RandomState(3).randint(0, len(words), nbytes)
    return b" ".join(words[i] for i in picks)[:nbytes]


def records(nbytes, typesize):
    """Items of any width: a counter in the first bytes, the item number's square in the last ones."""
    nitems = -(-nbytes // typesize)
    items = (struct.pack("<IQ", i, i * i).ljust(typesize, b"\x07")[:typesize] for i in range(nitems))
    return b"".join(items)[:nbytes]


# Frames -------------------------------------------------------------------------------------------------


def cparams(codec="lz4", filters="shuffle", clevel=5, typesize=4, nthreads=1, **more):
    ids, metas = FILTERS[filters]
    return dict(
        codec=blosc2.Codec(CODECS[codec]),
        clevel=clevel,
        typesize=typesize,
        nthreads=nthreads,
        filters=ids + [0] * (6 - len(ids)),
        filters_meta=metas + [0] * (6 - len(metas)),
        **more,
    )


def schunk(data=None, chunksize=6400, meta=None, **params):
    return blosc2.SChunk(
        chunksize=chunksize,
        data=data,
        cparams=cparams(**params),
        dparams=dict(nthreads=1),
        contiguous=True,
        meta=meta,
    )


def decoded(s):
    return b"".join(s.decompress_chunk(i) for i in range(s.nchunks))


def frame(s, expected=None):
    """The bytes of a super-chunk and what the oracle decodes from them."""
    data = s.to_cframe()
    content = decoded(blosc2.schunk_from_cframe(data))
    if expected is not None:
        assert content == bytes(expected), "the oracle does not read back what it wrote"
    return data, content


def codec_by_filter():
    for codec in CODECS:
        for filters in FILTERS:
            dtype = "<f4" if filters == "truncprec" else "<i4"
            data = walk(3500, dtype).tobytes()
            s = schunk(data, codec=codec, filters=filters)
            about = f"{codec} with {filters}; three chunks, the last one short"
            yield f"{codec}-{filters}", about, frame(s, None if filters == "truncprec" else data)


def levels():
    data = walk(3000).tobytes()
    for codec in CODECS:
        for clevel in (0, 1, 9):
            s = schunk(data, codec=codec, clevel=clevel, chunksize=12000)
            yield f"{codec}-level{clevel}", f"{codec} at level {clevel}", frame(s, data)


def typesizes():
    for typesize in (1, 2, 3, 5, 7, 8, 12, 16, 17, 32, 255, 256, 300):
        data = records(typesize * (6000 // typesize), typesize)
        for filters in ("shuffle", "bitshuffle"):
            chunksize = typesize * max(1, 2500 // typesize)
            s = schunk(data, chunksize=chunksize, filters=filters, typesize=typesize, codec="blosclz")
            yield f"typesize{typesize}-{filters}", f"items of {typesize} bytes, {filters}", frame(s, data)


def lengths():
    for nbytes in (0, 1, 3, 4, 31, 32, 33, 127, 1001, 6399, 6400, 6401):
        data = text(nbytes)
        s = schunk(data, codec="zstd")
        yield f"length{nbytes}", f"{nbytes} bytes in items of 4", frame(s, data)


def special():
    for name, typesize, value in (
        ("zeros", 4, blosc2.SpecialValue.ZERO),
        ("nan-f4", 4, blosc2.SpecialValue.NAN),
        ("nan-f8", 8, blosc2.SpecialValue.NAN),
        ("uninit", 8, blosc2.SpecialValue.UNINIT),
    ):
        s = schunk(chunksize=4000, typesize=typesize)
        s.fill_special(10_300 // typesize, value)
        data, content = frame(s)
        if name == "uninit":
            content = bytes(len(content))  # Any bytes would do; we promise zeros.
        yield f"special-{name}", f"only special chunks ({name}), the last one short", (data, content)

    s = schunk(chunksize=4000, typesize=4)
    s.fill_special(2600, blosc2.SpecialValue.VALUE, np.int32(0x01020304))
    yield "special-value", "one value in all items", frame(s)

    data = np.concatenate([walk(1000), np.zeros(2000, "<i4"), walk(1000), np.full(1000, 7, "<i4")]).tobytes()
    s = schunk(data, chunksize=4000)
    yield "special-mixed", "chunks of zeros and of one value between others", frame(s, data)

    data = np.full(1500, np.nan, "<f8").tobytes()
    s = schunk(data, chunksize=4000, typesize=8)
    yield "nan-data", "data that happens to be NaN", frame(s, data)


def blocks():
    data = walk(6000).tobytes()
    for name, mode in (("always", 1), ("never", 2), ("auto", 3), ("compat", 4)):
        s = schunk(data, chunksize=24000, blocksize=2048, splitmode=blosc2.SplitMode(mode))
        yield f"split-{name}", f"split mode {name}; blocks of 2048 bytes, the last one short", frame(s, data)
    s = schunk(data, chunksize=24000, blocksize=2048, filters="delta", codec="zstd")
    yield "delta-blocks", "delta over several blocks of a chunk", frame(s, data)
    mixed = data[:8000] + noise(4000) + bytes(4000) + b"\x05" * 4000 + text(3999)
    for filters in ("none", "shuffle", "bitshuffle"):
        s = schunk(mixed, chunksize=23_999, blocksize=1024, filters=filters, codec="blosclz")
        yield f"streams-{filters}", "compressed, stored and run streams in one chunk", frame(s, mixed)
    incompressible = noise(5000)
    s = schunk(incompressible, chunksize=4000, codec="zlib")
    yield "memcpyed", "chunks stored as they are", frame(s, incompressible)


def dictionaries():
    data = b"".join(b'{"station": %d, "height": %d}\n' % (i % 97, i * i % 1009) for i in range(900))
    for codec in ("lz4", "lz4hc", "zstd"):
        s = schunk(data, chunksize=40_000, blocksize=4096, codec=codec, filters="none", typesize=1, use_dict=True)
        yield f"dict-{codec}", f"{codec} with a dictionary in the chunk", frame(s, data)


def metadata():
    data = walk(1000).tobytes()
    s = schunk(data, meta={"units": "kelvin", "numbers": [1, 2.5, None, True], "empty": b""})
    yield "metalayers", "three metalayers", frame(s, data)
    s = schunk(data)
    s.vlmeta["history"] = "written once, read often. " * 40
    s.vlmeta["none"] = None
    s.vlmeta["array"] = list(range(50))
    yield "vlmetalayers", "three variable-length metalayers", frame(s, data)
    s = schunk(data, meta={f"layer-{i:02}" + "x" * 23: i for i in range(16)})
    yield "metalayers16", "as many metalayers as there can be, with the longest names", frame(s, data)
    s = schunk(meta={"only": "metadata"})
    s.vlmeta["and"] = "no data"
    yield "metadata-only", "metadata and no chunks", frame(s, b"")


def edited():
    parts = [walk(1600, seed=i).tobytes() for i in range(6)]
    s = schunk(b"".join(parts))
    s.delete_chunk(1)
    del parts[1]
    s.update_data(2, noise(6400), copy=True)
    parts[2] = noise(6400)
    s.insert_data(0, parts[3], copy=True)
    parts.insert(0, parts[3])
    yield "edited", "chunks deleted, updated and inserted: not in file order", frame(s, b"".join(parts))

    sizes = (6400, 400, 1204, 4, 6400)
    parts = [walk(size // 4, seed=size).tobytes() for size in sizes]
    s = schunk()
    for part in parts:
        s.append_data(part)
    assert s.chunksize == 0
    yield "variable-chunks", "chunks of different sizes", frame(s, b"".join(parts))

    data = walk(20_000, "<i8").tobytes()
    s = schunk(data, chunksize=320, typesize=8, codec="zstd")
    yield "many-chunks", "500 chunks: an index that is compressed", frame(s, data)


def arrays():
    grid = walk(40 * 50, "<i4").reshape(40, 50)
    for name, array, chunks, blocks in (
        ("2d", grid, (16, 20), (8, 7)),
        ("1d", grid.ravel(), (700,), (128,)),
        ("3d-f8", walk(6 * 7 * 8, "<f8").reshape(6, 7, 8), (4, 4, 8), (2, 3, 5)),
    ):
        a = blosc2.asarray(
            array,
            chunks=chunks,
            blocks=blocks,
            cparams=cparams("zstd", typesize=array.itemsize),
            dparams=dict(nthreads=1),
        )
        data = a.to_cframe()
        yield f"array-{name}", f"n-dim array, {name}; the content is the padded chunks", (
            data,
            decoded(blosc2.schunk_from_cframe(data)),
        )


def multithread():
    """Blocks in the order in which threads finished them. Chance decides, so a file that shows it is kept."""
    data = b"".join(walk(2000, seed=i).tobytes() + noise(3000, i) for i in range(5))
    for _ in range(1000):
        s = schunk(data, chunksize=len(data), blocksize=1024, nthreads=8, codec="zlib")
        chunk = s.get_chunk(0)
        nblocks = -(-len(data) // 1024)
        bstarts = struct.unpack_from(f"<{nblocks}i", chunk, 32)
        if list(bstarts) != sorted(bstarts):
            yield "multithread", "block starts out of order, as several threads write them", frame(s, data)
            return
    raise AssertionError("the threads always finished in order")


FRAMES = (
    codec_by_filter,
    levels,
    typesizes,
    lengths,
    special,
    blocks,
    dictionaries,
    metadata,
    edited,
    arrays,
    multithread,
)


# Chunks -------------------------------------------------------------------------------------------------


def blosc2_chunks():
    data = walk(1500).tobytes()
    for codec in CODECS:
        for filters in ("none", "shuffle", "bitshuffle", "delta"):
            chunk = blosc2.compress2(data, **cparams(codec, filters))
            yield f"blosc2-{codec}-{filters}", f"{codec} with {filters}", (chunk, blosc2.decompress2(chunk))
    for name, data in (("empty", b""), ("short", b"abc"), ("zeros", bytes(5000)), ("noise", noise(2000))):
        chunk = blosc2.compress2(data, **cparams())
        content = blosc2.decompress2(chunk) if data else b""
        assert content == data
        yield f"blosc2-{name}", f"{name} data", (chunk, content)


def blosc1_chunks():
    # The wheel has no Snappy; a chunk written with it cannot be made here.
    names = ("blosclz", "lz4", "lz4hc", "zlib", "zstd")
    for codec in names:
        for shuffle, label in ((0, "none"), (1, "shuffle"), (2, "bitshuffle")):
            for typesize, data in ((4, walk(1500).tobytes() + b"!"), (3, text(6001))):
                chunk = blosc.compress(data, typesize, 5, shuffle, codec)
                content = blosc.decompress(chunk)
                assert content == data
                about = f"{codec} with {label}, items of {typesize} bytes and a tail"
                yield f"blosc1-{codec}-{label}-typesize{typesize}", about, (chunk, content)
    for name, data in (("empty", b""), ("short", b"abc"), ("zeros", bytes(5000)), ("noise", noise(2000))):
        chunk = blosc.compress(data, 4)
        content = blosc.decompress(chunk)
        assert content == data
        yield f"blosc1-{name}", f"{name} data", (chunk, content)


def numcodecs_chunks():
    data = walk(3000, "<i8")
    for codec in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"):
        for shuffle in (0, 1, 2):
            encoder = numcodecs.Blosc(cname=codec, clevel=5, shuffle=shuffle, blocksize=4096)
            chunk = encoder.encode(data)
            content = bytes(encoder.decode(chunk))
            assert content == data.tobytes()
            yield f"numcodecs-{codec}-shuffle{shuffle}", f"{codec}, blocks of 4096 bytes", (chunk, content)


def zarr_chunks():
    """Chunk files of Zarr arrays of format 2, as the store of a group has them."""
    walked = walk(60 * 70, "<f8").reshape(60, 70)
    sparse = np.where(walk(60 * 70, "<i2") > 20, walk(60 * 70, "<i2"), 0).reshape(60, 70)
    for name, data, compressor in (
        ("zarr2-f8", walked / 4, numcodecs.Blosc("zstd", 5, numcodecs.Blosc.SHUFFLE)),
        ("zarr2-i2", sparse, numcodecs.Blosc("lz4", 9, numcodecs.Blosc.BITSHUFFLE, blocksize=1024)),
        ("zarr2-u1", (walked % 7).astype("u1"), numcodecs.Blosc("blosclz", 9, numcodecs.Blosc.NOSHUFFLE)),
    ):
        store = {}
        array = zarr.create_array(
            zarr.storage.MemoryStore(store),
            shape=data.shape,
            chunks=(40, 50),
            dtype=data.dtype,
            zarr_format=2,
            compressors=compressor,
            fill_value=0,
        )
        array[:] = data
        # A whole chunk, and one in the corner: Zarr fills those up.
        for key in ("0.0", "1.1"):
            chunk = store[key].to_bytes()
            content = bytes(compressor.decode(chunk))
            padded = np.zeros((80, 100), data.dtype)
            padded[:60, :70] = data
            row, column = (int(i) for i in key.split("."))
            assert content == padded[40 * row :, 50 * column :][:40, :50].tobytes()
            yield f"{name}-{key}", f"chunk {key} of a Zarr array of {data.dtype.str[1:]}", (chunk, content)


# Writing ------------------------------------------------------------------------------------------------


def write(root, chosen, folder, suffix, fmt, program, version, generator):
    for name, about, (data, content) in generator():
        if chosen and name not in chosen:
            continue
        file = f"{folder}/generated/{name}{suffix}"
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        if not (generator is multithread and path.exists()):
            path.write_bytes(data)
        entry = dict(
            file=file,
            format=fmt,
            program=program,
            version=version,
            command=f"python xtask/python/fixtures.py conformance/samples {name}",
            about=about,
            nbytes=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
        )
        print(json.dumps(entry))


def main():
    root, chosen = pathlib.Path(sys.argv[1]), set(sys.argv[2:])
    blosc.set_nthreads(1)
    numcodecs.blosc.set_nthreads(1)
    for generator in FRAMES:
        suffix = ".b2nd" if generator is arrays else ".b2frame"
        write(root, chosen, "frames", suffix, "cframe", "python-blosc2", BLOSC2, generator)
    chunks = "chunks", ".chunk"
    write(root, chosen, *chunks, "blosc2-chunk", "python-blosc2", BLOSC2, blosc2_chunks)
    write(root, chosen, *chunks, "blosc1-chunk", "python-blosc", BLOSC1, blosc1_chunks)
    write(root, chosen, *chunks, "blosc1-chunk", "numcodecs", NUMCODECS, numcodecs_chunks)
    write(root, chosen, *chunks, "blosc1-chunk", "zarr", ZARR, zarr_chunks)


if __name__ == "__main__":
    main()
