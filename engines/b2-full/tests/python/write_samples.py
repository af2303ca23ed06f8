"""Writes the samples of this folder: python write_samples.py FOLDER zarr|hdf5|mixed|kinds|links|sums

zarr 3.1 with numcodecs 0.16 for the first, h5py 3.x with hdf5plugin and tables for the second, zarr, h5py and netCDF4 1.7 for
groups with attributes, names of dimensions and members of which some are not read, all of these and imagecodecs 2026.3 for
one array of each codec, filter, type of items and spelling of metadata, h5py for links and data that are elsewhere, zarr and h5py
for checksums. The arrays of all files are
functions of positions, which the tests compute as well.
"""

import os
import sys

import numpy as np

folder, what = sys.argv[1:]


def numbers(dtype, shape):
    """The position of each item, counted in C order."""
    return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


RECORDS = np.dtype({"names": ["id", "price", "sym"], "formats": ["<i4", "<f8", "S4"], "offsets": [0, 8, 16], "itemsize": 24})


def records(nrows):
    rows = np.zeros(nrows, RECORDS)
    rows["id"], rows["price"] = np.arange(nrows), np.arange(nrows) / 4
    rows["sym"] = [b"abcd"[: n % 5] for n in range(nrows)]
    return rows


def write_zarr():
    import numcodecs
    import zarr

    for version, lz4, zstd in [
        (2, numcodecs.Blosc("lz4", 5, 1), numcodecs.Blosc("zstd", 5, 2)),
        (3, zarr.codecs.BloscCodec(cname="lz4", typesize=4), zarr.codecs.BloscCodec(cname="zstd", typesize=8)),
    ]:
        root = zarr.create_group(os.path.join(folder, f"v{version}.zarr"), zarr_format=version, attributes={"title": "samples"})
        flat = root.create_array("flat", shape=(30, 40), chunks=(8, 16), dtype="<i4", compressors=lz4, attributes={"unit": "m"})
        flat[:] = numbers("<i4", (30, 40))
        cube = root.create_array("deep/cube", shape=(5, 6, 7), chunks=(2, 6, 3), dtype="<f8", compressors=zstd)
        cube[:] = numbers("<f8", (5, 6, 7))
        # Chunks that are not there are the fill value.
        hole = root.create_array("deep/hole", shape=(100,), chunks=(10,), dtype="<u2", fill_value=9, compressors=lz4)
        hole[40:50] = numbers("<u2", (10,))


def write_hdf5():
    import h5py
    import hdf5plugin
    import tables
    from numpy.lib import recfunctions

    with h5py.File(os.path.join(folder, "sample.h5"), "w") as file:
        file.attrs["title"] = "samples"
        flat = file.create_dataset("flat", data=numbers("<i4", (30, 40)), chunks=(8, 16), **hdf5plugin.Blosc(cname="lz4"))
        flat.attrs["unit"], flat.attrs["scale"], flat.attrs["range"] = "m", 0.5, [1, 2]
        file.create_dataset("deep/cube", data=numbers(">f8", (5, 6, 7)), chunks=(2, 6, 3), **hdf5plugin.Blosc2(cname="zstd"))
        file.create_dataset("records", data=records(50), chunks=(16,), **hdf5plugin.Blosc(cname="zstd"))
        file.create_dataset("flags", data=numbers("<i4", (20,)) % 3 == 0)
        file.create_dataset("complex", data=numbers("<c8", (6,)) * (1 + 2j))
        file.create_dataset("scalar", data=np.float32(2.5))
        # A chunk that is stored as it is: the filter mask says that no filter was used.
        masked = file.create_dataset("masked", shape=(20,), dtype="<i4", chunks=(10,), **hdf5plugin.Blosc(cname="lz4"))
        masked[:10] = numbers("<i4", (10,))
        masked.id.write_direct_chunk((10,), (numbers("<i4", (10,)) + 10).astype("<i4").tobytes(), filter_mask=1)
        file.create_dataset("text", data=["of", "any", "length"], dtype=h5py.string_dtype())

    with tables.open_file(os.path.join(folder, "pytables.h5"), "w", title="samples") as file:
        filters = tables.Filters(complevel=5, complib="blosc2:lz4", shuffle=True)
        file.create_table("/", "records", obj=recfunctions.repack_fields(records(50)), filters=filters, chunkshape=(16,))


def write_mixed():
    import h5py
    import netCDF4
    import numcodecs
    import zarr

    units = {"units": "K"}
    for version in [2, 3]:
        root = zarr.create_group(os.path.join(folder, f"mixed{version}.zarr"), zarr_format=version, attributes={"title": "mixed"})
        names = {"dimension_names": ("time", "lat")} if version == 3 else {}
        temp = root.create_array("temp", shape=(4, 6), chunks=(2, 6), dtype="<i4", compressors=None, attributes=units, **names)
        temp[:] = numbers("<i4", (4, 6))
        if version == 2:
            temp.attrs["_ARRAY_DIMENSIONS"] = ["time", "lat"]
        deep = root.create_group("deep/er", attributes={"institution": "here"})
        deep.create_array("x", data=numbers("<f8", (5,)), compressors=None)
        # A record, text of any length, and a codec of nobody else, which is not read.
        if version == 2:
            old = zarr.create_array(root.store, name="rec", shape=(3,), chunks=(3,), dtype=[("a", "<i4")], zarr_format=2, compressors=None)
            old[:] = np.zeros(3, [("a", "<i4")])
        root.create_array("text", data=np.array(["of", "any", "length"], dtype=np.dtypes.StringDType()), compressors=None)
        if version == 2:
            root.create_array("odd", shape=(3,), chunks=(3,), dtype="<i4", filters=[numcodecs.Quantize(3, "<f4")], compressors=None)
            edit(os.path.join(folder, "mixed2.zarr"), "odd/.zarray", lambda text: text.replace("quantize", "somebodys"))

    with h5py.File(os.path.join(folder, "mixed.h5"), "w") as file:
        file.attrs["title"], file.attrs["missing"], file.attrs["grid"] = "mixed", np.nan, [[1, 2], [3, 4]]
        file.attrs["root"] = file.ref
        temp = file.create_dataset("temp", data=numbers("<i4", (4, 6)), chunks=(2, 6))
        temp.attrs["units"] = "K"
        file["time"], file["lat"] = numbers("<f4", (4,)), numbers("<f4", (6,))
        for n, name in enumerate(["time", "lat"]):
            file[name].make_scale()
            temp.dims[n].attach_scale(file[name])
        deep = file.create_group("deep/er")
        deep.attrs["institution"] = "here"
        deep["x"] = numbers("<f8", (5,))
        deep["x"].dims[0].label = "step"
        file["again"] = file["/"]
        # Not read.
        file.create_dataset("text", data=["of", "any", "length"], dtype=h5py.string_dtype())
        file.create_dataset("odd", data=numbers("<i4", (30,)), chunks=(30,), compression="lzf")
        file["nothing"] = h5py.Empty("f4")
        file["elsewhere"] = h5py.ExternalLink("other.h5", "/x")
        file["references"] = np.array([file.ref], dtype=h5py.ref_dtype)

    with netCDF4.Dataset(os.path.join(folder, "mixed.nc"), "w") as file:
        file.title = "mixed"
        # More attributes than a group of a store has room for.
        file.setncatts({f"attribute_{n:02}": n for n in range(20)} | {"a_name_of_more_than_thirty_one_letters": "long"})
        file.createDimension("time", 4)
        file.createDimension("lat", 6)
        file.createVariable("lat", "f4", ("lat",))[:] = numbers("<f4", (6,))
        run = file.createGroup("run")
        run.institution = "here"
        temp = run.createVariable("temp", "i4", ("time", "lat"))
        temp.units = "K"
        temp[:] = numbers("<i4", (4, 6))


def write_kinds():
    """Each array has the numbers 0 to 23 in 4 rows of 6, or what its name says of four items."""
    write_kinds_zarr2()
    write_kinds_zarr3()
    write_kinds_hdf5()


WORDS = ["a", "bcd", "", "\u00e9t\u00e9"]
DAYS = np.array(["2020-01-01", "2020-01-02", "NaT", "1969-12-31"], "M8[ns]")
PAIRS = np.array([(1, 2.5, b"ab"), (2, -0.5, b""), (3, 1e9, b"abc"), (4, 0, b"x")], [("a", "<i4"), ("b", ">f8"), ("c", "S3")])


def edit(folder, name, change):
    """Changes metadata as other programs write them."""
    path = os.path.join(folder, name)
    with open(path) as file:
        text = change(file.read())
    with open(path, "w") as file:
        file.write(text)


def write_kinds_zarr2():
    import imagecodecs.numcodecs as images
    import numcodecs
    import zarr

    images.register_codecs(verbose=False)
    path = os.path.join(folder, "kinds2.zarr")
    root = zarr.create_group(path, zarr_format=2)
    grid = numbers("<i4", (4, 6))

    def add(name, data, filters=None, compressor=None, **options):
        array = zarr.create_array(root.store, name=name, shape=data.shape, chunks=options.pop("chunks", (2, 6)[: data.ndim]),
            dtype=data.dtype, filters=filters, compressors=compressor, zarr_format=2, **options)
        array[:] = data

    add("delta", grid, [numcodecs.Delta("<i4", "<i2")])
    add("delta_float", grid.astype("<f4"), [numcodecs.Delta("<f4")])
    add("scale", grid.astype("<f8"), [numcodecs.FixedScaleOffset(offset=-5, scale=2, dtype="<f8", astype="|u1")])
    add("quantize", grid.astype("<f8"), [numcodecs.Quantize(3, "<f8", "<f4")])
    add("bitround", grid.astype("<f4"), [numcodecs.BitRound(10)])
    add("astype", grid, [numcodecs.AsType("<i2", "<i4")])
    add("packbits", grid % 2 == 0, [numcodecs.PackBits()])
    add("shuffle", grid, [numcodecs.Shuffle(4)], numcodecs.Zlib(1))
    add("fletcher", grid, [numcodecs.Fletcher32()])
    add("two_filters", grid, [numcodecs.Delta("<i4"), numcodecs.Shuffle(4)], numcodecs.Zstd(1))
    add("fortran", grid, [numcodecs.Delta("<i4")], order="F")
    add("zstd", grid, None, numcodecs.Zstd(3))
    add("gzip", grid, None, numcodecs.GZip(1))
    add("imagecodecs_blosc", grid, None, images.Blosc(typesize=4))
    add("imagecodecs_blosc2", grid, None, images.Blosc2(typesize=4))
    add("big", grid.astype(">i4"), None, numcodecs.Blosc())
    add("fill_text", grid.astype("|u1"))
    add("fill_float", grid.astype("|u1"))
    add("lengths", grid)
    add("days", DAYS, chunks=(4,))
    add("bytes", np.array([b"a", b"bcd", b"", b"xyzw"], "S4"), chunks=(2,))
    add("words", np.array(WORDS, "U3"), chunks=(2,))
    add("pairs", PAIRS, chunks=(4,))
    text = zarr.create_array(root.store, name="text", shape=(4,), chunks=(2,), dtype=str, zarr_format=2)
    text[:] = np.array(WORDS, dtype=np.dtypes.StringDType())
    root["big"].attrs["missing"] = 1
    for name, change in [
        ("fill_text/.zarray", lambda text: text.replace('"fill_value": 0', '"fill_value": "0"')),
        ("fill_float/.zarray", lambda text: text.replace('"fill_value": 0', '"fill_value": 0.0')),
        ("lengths/.zarray", lambda text: text.replace("    4,\n    6\n", '    "4",\n    6.0\n')),
        ("big/.zattrs", lambda text: text.replace("1", "NaN")),
        (".zattrs", lambda text: '{"limits": [-Infinity, Infinity]}'),
    ]:
        edit(path, name, change)


def write_kinds_zarr3():
    import zarr
    from zarr.codecs import numcodecs
    from zarr.dtype import FixedLengthUTF32, NullTerminatedBytes

    path = os.path.join(folder, "kinds3.zarr")
    for where in [path, zarr.storage.ZipStore(os.path.join(folder, "kinds3.zarr.zip"), mode="w")]:
        root = zarr.create_group(where)
        grid = numbers("<i4", (4, 6))

        def add(name, data, **options):
            chunks = options.pop("chunks", (2, 6)[: data.ndim])
            dtype = options.pop("dtype", data.dtype)
            array = root.create_array(name, shape=data.shape, chunks=chunks, dtype=dtype, **options)
            array[:] = data

        add("numcodecs_blosc", grid, compressors=numcodecs.Blosc(cname="lz4"))
        add("numcodecs_zstd", grid, compressors=numcodecs.Zstd(level=3))
        add("numcodecs_zlib", grid, compressors=numcodecs.Zlib(level=3))
        if not isinstance(where, str):
            where.close()
            break
        add("zstd", grid, compressors=zarr.codecs.ZstdCodec(level=3))
        add("delta", grid, filters=numcodecs.Delta(dtype="<i4"), compressors=None)
        add("scale", grid.astype("<f8"), filters=numcodecs.FixedScaleOffset(offset=-5, scale=2, dtype="<f8", astype="|u1"))
        add("bitround", grid.astype("<f4"), filters=numcodecs.BitRound(keepbits=10))
        add("sharded", grid, chunks=(1, 6), shards=(2, 6), compressors=numcodecs.Blosc(cname="zstd"))
        add("fill_text", grid, compressors=None)
        add("days", DAYS, chunks=(4,))
        add("bytes", np.array([b"a", b"bcd", b"", b"xyzw"], "S4"), dtype=NullTerminatedBytes(length=4), chunks=(2,))
        add("words", np.array(WORDS, "U3"), dtype=FixedLengthUTF32(length=3), chunks=(2,))
        add("pairs", np.array(PAIRS.tolist(), [("a", "<i4"), ("b", "<f8"), ("c", "S3")]), chunks=(4,), compressors=None)
        add("text", np.array(WORDS, dtype=np.dtypes.StringDType()), chunks=(2,))
        for name, change in [
            ("zstd/zarr.json", lambda text: text.replace(',\n        "checksum": false', "")),
            ("fill_text/zarr.json", lambda text: text.replace('"fill_value": 0', '"fill_value": "0"')),
            ("zarr.json", lambda text: text.replace('"attributes": {}', '"attributes": {"missing": NaN}')),
        ]:
            edit(path, name, change)


def write_kinds_hdf5():
    import h5py
    import hdf5plugin
    import tables

    grid = numbers("<i4", (4, 6))
    with h5py.File(os.path.join(folder, "kinds.h5"), "w", libver="latest") as file:
        def add(name, **options):
            file.create_dataset(name, data=grid, chunks=(3, 6), **options)

        add("lzf", compression="lzf", shuffle=True)
        add("zstd", **hdf5plugin.Zstd(clevel=3))
        add("lz4", **hdf5plugin.LZ4())
        add("bitshuffle", **hdf5plugin.Bitshuffle(cname="none"))
        add("bitshuffle_lz4", **hdf5plugin.Bitshuffle(cname="lz4"))
        add("bitshuffle_zstd", **hdf5plugin.Bitshuffle(cname="zstd"))
        file["text"] = np.array(WORDS, dtype=h5py.string_dtype())
        file["bytes"] = np.array([b"a", b"bcd", b"", b"xyzw"], "S4")
        file["scalar_text"] = "one"
        # Many items, of which the last are no group of eight, and several blocks.
        long = np.cumsum(np.arange(2203) % 7).astype("<i4")
        for cname in ["none", "lz4", "zstd"]:
            file.create_dataset(f"long/{cname}", data=long, chunks=(2203,), **hdf5plugin.Bitshuffle(cname=cname))
        file.create_dataset("long/lzf", data=long, chunks=(2203,), compression="lzf")
        file.create_dataset("long/lz4_blocks", data=long, chunks=(2203,), **hdf5plugin.LZ4(nbytes=4096))
        file.create_dataset("long/zstd_alone", data=long, chunks=(2203,), **hdf5plugin.Zstd())
        file["long/plain"] = long

    class Row(tables.IsDescription):
        id = tables.Int32Col(pos=0)
        at = tables.Time64Col(pos=1)
        day = tables.Time32Col(pos=2)

    with tables.open_file(os.path.join(folder, "times.h5"), "w") as file:
        table = file.create_table("/", "rows", Row, chunkshape=4)
        for n, at in enumerate([1.5e9 + 0.25, 0.0, -3.75, 1.5]):
            table.row["id"], table.row["at"], table.row["day"] = n, at, 1_500_000_000 + n
            table.row.append()


def write_links():
    """Groups of each kind with data sets that are there, links that lead nowhere or out, and data elsewhere."""
    import h5py

    for name, libver in [("links.h5", "earliest"), ("links_latest.h5", "latest")]:
        with h5py.File(os.path.join(folder, name), "w", libver=libver) as file:
            file["x"] = numbers("<i4", (6,))
            for group, extra in [("few", 0), ("many", 30)]:
                group = file.create_group(group)
                group["x"] = file["x"]
                group["soft"] = h5py.SoftLink("/x")
                group["dead"] = h5py.SoftLink("/gone")
                group["loop"] = h5py.SoftLink(f"{group.name}/loop")
                group["out"] = h5py.ExternalLink("other.h5", "/y")
                for n in range(extra):
                    group[f"dead_{n}"] = h5py.SoftLink("gone")
            file["type"] = np.dtype("<i4")
            file["rows"] = np.array([(n, n / 2) for n in range(6)], [("a", "<i4"), ("b", "<f8")])
            layout = h5py.VirtualLayout(shape=(6,), dtype="<i4")
            layout[:] = h5py.VirtualSource("other.h5", "y", shape=(6,))
            if libver == "latest":
                file.create_virtual_dataset("virtual", layout)
            file.create_dataset("outside", shape=(6,), dtype="<i4", external=[("raw.bin", 0, 24)])


def write_sums():
    """Arrays of 24 numbers in four chunks, with checksums of chunks or without."""
    import h5py
    import zarr
    from zarr.codecs import Crc32cCodec

    grid = numbers("<i4", (4, 6))
    for name, libver in [("sums.h5", "earliest"), ("sums_latest.h5", "latest")]:
        with h5py.File(os.path.join(folder, name), "w", libver=libver) as file:
            file.create_dataset("plain", data=grid, chunks=(2, 3))
            file.create_dataset("summed", data=grid, chunks=(2, 3), fletcher32=True)
            file.create_dataset("packed", data=grid, chunks=(2, 3), fletcher32=True, shuffle=True, compression="gzip")
            part = file.create_dataset("part", shape=(4, 6), dtype="<i4", chunks=(2, 3), fletcher32=True)
            part[:2] = grid[:2]

    root = zarr.create_group(os.path.join(folder, "sums3.zarr"), zarr_format=3)
    for name, codec, shards in [("plain", None, None), ("summed", Crc32cCodec(), None), ("shards", Crc32cCodec(), (4, 6))]:
        array = root.create_array(name, shape=(4, 6), chunks=(2, 3), shards=shards, dtype="<i4", compressors=codec)
        array[:] = grid
    part = root.create_array("part", shape=(4, 6), chunks=(2, 3), dtype="<i4", compressors=Crc32cCodec())
    part[:2] = grid[:2] + 1
    texts = np.array(WORDS, dtype=np.dtypes.StringDType())
    root.create_array("text", data=texts, chunks=(2,), compressors=Crc32cCodec())


WRITERS = {"zarr": write_zarr, "hdf5": write_hdf5, "mixed": write_mixed, "kinds": write_kinds, "links": write_links, "sums": write_sums}
WRITERS[what]()
