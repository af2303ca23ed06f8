"""Twenty files of a client of libblosc: writes them, or reads them, and prints what they hold.

    capi_files.py write|read h5py|zarr2|zarr3|gdal|tables|filter2|tables2 FOLDER

The last two use libblosc2, with chunks of several blocks.
"""

import hashlib
import json
import os
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
    import h5py
    import hdf5plugin  # noqa: F401

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
