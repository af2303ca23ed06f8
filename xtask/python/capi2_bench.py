"""HDF5's filter 32026 with two libraries in turns: 100 MB written, read, and rows in any order.

    capi2_bench.py h5py ORIGINAL OURS          libraries to be preloaded
    capi2_bench.py tables ORIGINAL OURS        folders with the package
    capi2_bench.py worker h5py|tables
"""

import os
import subprocess
import sys
import tempfile
import time

NBYTES = 100 << 20
CODECS = ["blosclz", "lz4", "zstd"]
ROUNDS = 3


def create(kind, path, data, codec):
    if kind == "h5py":
        import h5py
        import hdf5plugin

        with h5py.File(path, "w") as file:
            options = hdf5plugin.Blosc2(codec, 5, 1)
            file.create_dataset("x", data=data, chunks=(512, 512), **options)
    else:
        import tables

        filters = tables.Filters(5, "blosc2:" + codec, True)
        with tables.open_file(path, "w") as file:
            file.create_carray(file.root, "x", obj=data, filters=filters, chunkshape=(512, 512))


def visit(kind, path, action):
    if kind == "h5py":
        import h5py
        import hdf5plugin  # noqa: F401

        with h5py.File(path) as file:
            return action(file["x"])
    import tables

    with tables.open_file(path) as file:
        return action(file.root.x)


def worker(kind):
    import numpy

    r = numpy.random.default_rng(1)
    data = numpy.cumsum(r.integers(0, 100, NBYTES // 4), dtype="i4").reshape(-1, 2048)
    rows = r.integers(0, len(data), 100)
    path = tempfile.mktemp()
    for line in sys.stdin:
        times = []
        steps = [
            lambda: create(kind, path, data, line.strip()),
            lambda: visit(kind, path, lambda x: x[...]),
            lambda: visit(kind, path, lambda x: [x[int(row)] for row in rows]),
        ]
        for step in steps:
            # The time of the processor: other programs take none of it.
            start = time.process_time()
            step()
            times.append(time.process_time() - start)
        print(*times, os.path.getsize(path), flush=True)
        os.remove(path)


def start(kind, place):
    name = "LD_PRELOAD" if kind == "h5py" else "PYTHONPATH"
    command = [sys.executable, "-B", __file__, "worker", kind]
    variables = dict(os.environ, **{name: place})
    return subprocess.Popen(command, text=True, env=variables, stdin=-1, stdout=-1)


def ask(side, codec):
    print(codec, file=side.stdin, flush=True)
    return [float(word) for word in side.stdout.readline().split()]


def main():
    kind, *places = sys.argv[1:]
    if kind == "worker":
        return worker(places[0])
    sides = [start(kind, place) for place in places]
    print("codec    step     original  ours   ratio  (s)")
    for codec in CODECS:
        rounds = [[ask(side, codec) for side in sides] for _ in range(ROUNDS)]
        for n, step in enumerate(("write", "read", "rows")):
            theirs, ours = (min(pair[side][n] for pair in rounds) for side in (0, 1))
            mark = "  BELOW" if theirs / ours < 0.9 else ""
            print(f"{codec:8} {step:8} {theirs:8.3f} {ours:6.3f} {theirs / ours:6.2f}{mark}", flush=True)
        sizes = [int(rounds[0][side][3]) for side in (0, 1)]
        print(f"{codec:8} bytes    {sizes[0]:10} {sizes[1]:10}", flush=True)


if __name__ == "__main__":
    main()
