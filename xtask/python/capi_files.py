"""Twenty files of a client of libblosc: writes them, or reads them, and prints what they hold.

    capi_files.py write|read CLIENT FOLDER

The clients are the functions below, without `write_` and `read_`. Those that end with 2 use
libblosc2, most of them with chunks of several blocks.
"""

import hashlib
import json
import os
import subprocess
import sys

import numpy

COUNT = 20
WITH_BLOSC2 = ["filter2", "tables2"]
NAMES = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]


def case(n):
    """The array of a file, and how it is compressed."""
    r = numpy.random.default_rng(n)
    dtype = ["i4", "f8", "u1", "i2", "f4"][n % 5]
    shape = 40 + 13 * n, 50
    data = numpy.cumsum(r.integers(0, 9, shape), axis=0)
    return data.astype(dtype), NAMES[n % 5 - n // 5], [1, 5, 9][n % 3], n % 3


def write_h5py(path, n):
    import h5py
    import hdf5plugin

    data, name, level, shuffle = case(n)
    with h5py.File(path, "w") as file:
        options = hdf5plugin.Blosc(name, level, shuffle)
        file.create_dataset("x", data=data, chunks=(16, 25), **options)


def read_h5py(path):
    import hdf5plugin  # noqa: F401

    return read_hdf5_filter(path)


def read_hdf5_filter(path):
    import h5py

    with h5py.File(path) as file:
        return file["x"][...]


def write_zarr2(path, n):
    import numcodecs
    import zarr

    data, name, level, shuffle = case(n)
    codec = numcodecs.Blosc(name, level, shuffle)
    array = zarr.create_array(
        path, shape=data.shape, dtype=data.dtype, chunks=(16, 25), compressors=codec, zarr_format=2
    )
    array[...] = data


def write_zarr3(path, n):
    import zarr
    from zarr.codecs import BloscCodec

    data, name, level, shuffle = case(n)
    shuffles = ["noshuffle", "shuffle", "bitshuffle"]
    codec = BloscCodec(cname=name, clevel=level, shuffle=shuffles[shuffle])
    array = zarr.create_array(
        path, shape=data.shape, dtype=data.dtype, chunks=(16, 25), compressors=codec
    )
    array[...] = data


def read_zarr2(path):
    import zarr

    return zarr.open_array(path, mode="r")[...]


read_zarr3 = read_zarr2


def write_gdal(path, n):
    import rasterio

    data, name, level, shuffle = case(n)
    shuffles = ["NONE", "BYTE", "BIT"]
    options = {
        "COMPRESS": "BLOSC",
        "BLOSC_CNAME": name,
        "BLOSC_CLEVEL": level,
        "BLOSC_SHUFFLE": shuffles[shuffle],
    }
    height, width = data.shape
    with rasterio.open(
        path, "w", "Zarr", width, height, 1, dtype=data.dtype, **options
    ) as file:
        file.write(data, 1)


def read_gdal(path):
    import rasterio

    with rasterio.open(path) as file:
        return file.read(1)


def write_tables(path, n):
    import tables

    data, name, level, shuffle = case(n)
    filters = tables.Filters(level, "blosc:" + name, shuffle == 1, shuffle == 2)
    with tables.open_file(path, "w") as file:
        file.create_carray(file.root, "x", obj=data, filters=filters, chunkshape=(16, 25))


def read_tables(path):
    import tables

    with tables.open_file(path) as file:
        return file.root.x[...]


def options(n):
    data, name, level, shuffle = case(n)
    return {
        "level": level,
        "compressor": name,
        "typesize": data.itemsize,
        "shuffle": ["noshuffle", "shuffle", "bitshuffle"][shuffle],
    }


def write_imagecodecs(path, n):
    import imagecodecs

    data = case(n)[0]
    put(path, imagecodecs.blosc_encode(data.tobytes(), **options(n)), n)


def read_imagecodecs(path):
    import imagecodecs

    return got(path, imagecodecs.blosc_decode)


def write_imagecodecs2(path, n):
    import imagecodecs

    data = case(n)[0]
    put(path, imagecodecs.blosc2_encode(data.tobytes(), **options(n)), n)


def read_imagecodecs2(path):
    import imagecodecs

    return got(path, imagecodecs.blosc2_decode)


def put(path, encoded, n):
    """A file of one chunk, after the number of its case."""
    with open(path, "wb") as file:
        file.write(bytes([n]) + bytes(encoded))


def got(path, decode):
    with open(path, "rb") as file:
        n, *encoded = file.read()
    data = case(n)[0]
    return numpy.frombuffer(decode(bytes(encoded)), data.dtype).reshape(data.shape)


def write_openvdb(path, n):
    import pyopenvdb

    grid = pyopenvdb.FloatGrid()
    data = case(n)[0].astype("f4")
    grid.copyFromArray(numpy.resize(data, (40 + n, 30, 20)))
    grid.name = "x"
    pyopenvdb.write(path, grids=[grid])


def read_openvdb(path):
    import pyopenvdb

    grid = pyopenvdb.read(path, "x")
    n = int(path.rsplit("-", 1)[1])
    dense = numpy.zeros((40 + n, 30, 20), "f4")
    grid.copyToArray(dense)
    # The array of the case is as long, so that its first items can be compared.
    shape = case(n)[0].shape
    return numpy.resize(dense, shape).astype(case(n)[0].dtype)


def write_adios(path, n):
    import adios_mpi as adios

    data, name, level, shuffle = case(n)
    adios.init_noxml()
    group = adios.declare_group("group", "", adios.FLAG.YES)
    adios.define_var(group, "n", "", adios.DATATYPE.integer, "", "", "")
    x = adios.define_var(group, "x", "", adios.DATATYPE.double, "n", "n", "0")
    shuffles = ["no", "byte", "bit"]
    words = f"blosc:threshold=16,compressor={name},lvl={level},shuffle={shuffles[shuffle]}"
    if adios.set_transform(x, words):
        sys.exit("ADIOS does not know Blosc")
    adios.select_method(group, "POSIX", "", "")
    file = adios.open("group", path, "w")
    adios.write_int(file, "n", data.size)
    adios.write(file, "x", data.astype("f8").ravel())
    adios.close(file)
    adios.finalize()


def read_adios(path):
    import adios_mpi as adios

    data = case(int(path.rsplit("-", 1)[1]))[0]
    with adios.file(path) as file:
        return file["x"][...].reshape(data.shape).astype(data.dtype)


def write_gdal_translate(path, n):
    data, name, level, shuffle = case(n)
    raw = path + ".raw"
    data.tofile(raw)
    kinds = {"int32": 3, "float64": 5, "uint8": 1, "int16": 2, "float32": 4}
    with open(raw + ".hdr", "w") as header:
        print(
            "ENVI",
            f"samples = {data.shape[1]}",
            f"lines = {data.shape[0]}",
            "bands = 1",
            f"data type = {kinds[data.dtype.name]}",
            "interleave = bsq",
            "byte order = 0",
            sep="\n",
            file=header,
        )
    options = ["COMPRESS=BLOSC", f"BLOSC_CNAME={name}", f"BLOSC_CLEVEL={level}"]
    options += [f"BLOSC_SHUFFLE={['NONE', 'BYTE', 'BIT'][shuffle]}", "BLOCKSIZE=16,25"]
    words = [word for option in options for word in ("-co", option)]
    subprocess.run(["gdal_translate", "-q", "-of", "Zarr", *words, raw, path], check=True)


def read_gdal_translate(path):
    data = case(int(path.rsplit("-", 1)[1]))[0]
    raw = path + ".back"
    subprocess.run(["gdal_translate", "-q", "-of", "ENVI", path, raw], check=True)
    return numpy.fromfile(raw, data.dtype).reshape(data.shape)


def write_hdf5_filter(path, n):
    import h5py

    data, name, level, shuffle = case(n)
    options = 0, 0, 0, 0, level, shuffle, NAMES.index(name) + (NAMES.index(name) > 2)
    with h5py.File(path, "w") as file:
        file.create_dataset(
            "x", data=data, chunks=(16, 25), compression=32001, compression_opts=options
        )


def case2(n):
    """An array of one to three dimensions, its chunks, and how it is compressed."""
    data, name, level, shuffle = case(n)
    shape = [(70_000 + 500 * n,), (300 + n, 410), (31 + n, 50, 60)][n % 3]
    chunks = [(30_000,), (140, 210), (17, 20, 40)][n % 3]
    data = numpy.resize(data, shape)
    data[tuple(slice(length // 2) for length in shape)] = 0 if n % 4 == 0 else 7
    return data, chunks, name, level, shuffle


def parts(array):
    """All of it, and rows that no block begins or ends with."""
    steps = [7, 3, 2][: array.ndim]
    return numpy.concatenate(
        [
            array[...].ravel(),
            array[tuple(slice(1, None, step) for step in steps)].ravel(),
            array[tuple(slice(9, 23) for _ in steps)].ravel(),
        ]
    )


def write_filter2(path, n):
    import h5py
    import hdf5plugin

    data, chunks, name, level, shuffle = case2(n)
    with h5py.File(path, "w") as file:
        options = hdf5plugin.Blosc2(name, level, shuffle)
        file.create_dataset("x", data=data, chunks=chunks, **options)


def read_filter2(path):
    import h5py
    import hdf5plugin  # noqa: F401

    with h5py.File(path) as file:
        return parts(file["x"])


def write_tables2(path, n):
    import tables

    data, chunks, name, level, shuffle = case2(n)
    filters = tables.Filters(level, "blosc2:" + name, shuffle == 1, shuffle == 2)
    with tables.open_file(path, "w") as file:
        file.create_carray(file.root, "x", obj=data, filters=filters, chunkshape=chunks)


def read_tables2(path):
    import tables

    with tables.open_file(path) as file:
        return parts(file.root.x)


def main():
    action, kind, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    digests = {}
    for n in range(COUNT):
        path = os.path.join(folder, f"{kind}-{n}")
        if action == "write":
            globals()["write_" + kind](path, n)
            data = parts(case2(n)[0]) if kind in WITH_BLOSC2 else case(n)[0]
        else:
            data = globals()["read_" + kind](path)
        digest = hashlib.sha256(numpy.ascontiguousarray(data).tobytes())
        digests[str(n)] = f"{data.dtype.str} {data.shape} {digest.hexdigest()}"
    print("\n" + json.dumps(digests))


if __name__ == "__main__":
    main()
