"""What a user of the Python packages writes to compress a file, for `cargo xtask bench-programs`.

Usage: programs.py COMMAND ARGUMENTS..., with the command blosc2-compress, blosc2-decompress,
hdf5-compress, hdf5-decompress, zarrs-compress, zarrs-decompress or blpk.
"""

import collections
import collections.abc
import sys


def compress(source, target, codec, level, typesize):
    """As b2: chunks of 1 MiB in a contiguous frame, shuffled, all cores."""
    import blosc2
    import numpy as np

    data = np.memmap(source, mode="r")
    cparams = {
        "codec": getattr(blosc2.Codec, codec.upper()),
        "clevel": int(level),
        "typesize": int(typesize),
        "nthreads": blosc2.detect_number_of_cores(),
    }
    blosc2.SChunk(chunksize=1 << 20, data=data, contiguous=True, urlpath=target, mode="w", cparams=cparams)


def decompress(source, target):
    import blosc2

    schunk = blosc2.open(source, mode="r", dparams={"nthreads": blosc2.detect_number_of_cores()})
    with open(target, "wb") as out:
        for nchunk in range(schunk.nchunks):
            out.write(schunk.decompress_chunk(nchunk))


def hdf5_compress(source, target, codec, level, typesize):
    """A data set in chunks of 1 MiB, by the filter of hdf5plugin."""
    import h5py
    import hdf5plugin
    import numpy as np

    data = np.memmap(source, mode="r").view(f"<i{typesize}")
    options = hdf5plugin.Blosc2(cname=codec, clevel=int(level), filters=hdf5plugin.Blosc2.SHUFFLE)
    with h5py.File(target, "w") as file:
        file.create_dataset("data", data=data, chunks=((1 << 20) // int(typesize),), **options)


def hdf5_decompress(source, target):
    import h5py
    import hdf5plugin  # noqa: F401: registers the filter

    with h5py.File(source) as file, open(target, "wb") as out:
        data = file["data"]
        step = 64 * data.chunks[0]
        for start in range(0, len(data), step):
            out.write(data[start : start + step])


def zarr_with_zarrs():
    """zarr-python with the codecs of zarrs: Rust, with C-Blosc for Blosc."""
    import zarr
    import zarrs  # noqa: F401: the pipeline named below

    zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
    return zarr


def zarrs_compress(source, target, codec, level, typesize):
    """An array in chunks of 1 MiB, by the codec `blosc` of zarrs."""
    import numpy as np

    zarr = zarr_with_zarrs()
    data = np.memmap(source, mode="r").view(f"<i{typesize}")
    blosc = zarr.codecs.BloscCodec(
        cname=codec, clevel=int(level), shuffle="shuffle", typesize=int(typesize)
    )
    zarr.create_array(target, data=data, chunks=((1 << 20) // int(typesize),), compressors=[blosc])


def zarrs_decompress(source, target):
    array = zarr_with_zarrs().open_array(source, mode="r")
    with open(target, "wb") as out:
        step = 64 * array.chunks[0]
        for start in range(0, array.shape[0], step):
            out.write(array[start : start + step])


def blpk(arguments):
    # Gone from collections since Python 3.10; Bloscpack 0.16.0 takes it from there.
    collections.MutableMapping = collections.abc.MutableMapping
    from bloscpack.cli import main

    sys.argv = ["blpk", *arguments]
    main()


if __name__ == "__main__":
    name, *arguments = sys.argv[1:]
    if name == "blosc2-compress":
        compress(*arguments)
    elif name == "blosc2-decompress":
        decompress(*arguments)
    elif name == "hdf5-compress":
        hdf5_compress(*arguments)
    elif name == "hdf5-decompress":
        hdf5_decompress(*arguments)
    elif name == "zarrs-compress":
        zarrs_compress(*arguments)
    elif name == "zarrs-decompress":
        zarrs_decompress(*arguments)
    else:
        blpk(arguments)
