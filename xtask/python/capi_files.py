"""Twenty files of a client of libblosc: writes them, or reads them, and prints what they hold.

    capi_files.py write|read h5py|zarr2|zarr3|gdal|tables FOLDER
"""

import hashlib
import json
import os
import sys

import numpy

COUNT = 20
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


def main():
    action, kind, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    digests = {}
    for n in range(COUNT):
        path = os.path.join(folder, f"{kind}-{n}")
        if action == "write":
            globals()["write_" + kind](path, n)
            data = case(n)[0]
        else:
            data = globals()["read_" + kind](path)
        digest = hashlib.sha256(numpy.ascontiguousarray(data).tobytes())
        digests[str(n)] = f"{data.dtype.str} {data.shape} {digest.hexdigest()}"
    print("\n" + json.dumps(digests))


if __name__ == "__main__":
    main()
