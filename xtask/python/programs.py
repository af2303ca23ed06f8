"""What a user of the Python packages writes to compress a file, for `cargo xtask bench-programs`.

Usage: programs.py blosc2-compress|blosc2-decompress|blpk ARGUMENTS...
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
    else:
        blpk(arguments)
