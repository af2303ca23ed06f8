"""Writes the samples of this folder: python write_samples.py FOLDER zarr|hdf5|mixed

zarr 3.1 with numcodecs 0.16 for the first, h5py 3.x with hdf5plugin and tables for the second, zarr, h5py and netCDF4 1.7 for
groups with attributes, names of dimensions and members of which some are not read. The arrays of all files are
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
        # Not read: structured items, text of any length, a codec of nobody else.
        if version == 2:
            old = zarr.create_array(root.store, name="rec", shape=(3,), chunks=(3,), dtype=[("a", "<i4")], zarr_format=2, compressors=None)
            old[:] = np.zeros(3, [("a", "<i4")])
        root.create_array("text", data=np.array(["of", "any", "length"], dtype=np.dtypes.StringDType()), compressors=None)
        if version == 2:
            root.create_array("odd", shape=(3,), chunks=(3,), dtype="<i4", filters=[numcodecs.Quantize(3, "<f4")], compressors=None)

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


{"zarr": write_zarr, "hdf5": write_hdf5, "mixed": write_mixed}[what]()
