"""Times zarrs-blosc against the codec of zarrs, which is C-Blosc: compare.py FOLDER

Builds both programs, writes arrays of Zarr 2 and 3 into FOLDER unless it has them (zarr 3.1, numcodecs 0.16), and runs the
programs in turns, five times each; the best of each counts. CPU milliseconds; what both read is compared."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SIDES = ["c-blosc", "ours"]
SHUFFLES = ["noshuffle", "shuffle", "bitshuffle"]
CODECS = ["blosclz", "lz4", "zlib", "zstd"]


def write_arrays(folder):
    import numcodecs
    import numpy as np
    import zarr

    random = np.random.default_rng(1)
    data = np.cumsum(random.normal(0, 0.01, (4000, 5000)).astype("f4"), axis=1)
    data = np.round(data, 3).astype("<f4")
    for version in [2, 3]:
        for cname in CODECS:
            for number, shuffle in enumerate(SHUFFLES):
                v2 = numcodecs.Blosc(cname=cname, clevel=5, shuffle=number)
                v3 = zarr.codecs.BloscCodec(cname=cname, clevel=5, shuffle=shuffle, typesize=4)
                array = zarr.create_array(
                    os.path.join(folder, f"v{version} {cname} {shuffle}"),
                    shape=data.shape,
                    chunks=(500, 500),
                    dtype="<f4",
                    zarr_format=version,
                    compressors=v2 if version == 2 else v3,
                )
                array[:] = data


def program(side):
    target = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(HERE, "target")), side)
    manifest = os.path.join(HERE, "Cargo.toml")
    build = ["cargo", "build", "--release", "--quiet", "--manifest-path", manifest, "--target-dir", target]
    subprocess.run([*build, "--features", side], check=True)
    return os.path.join(target, "release", "zarrs-blosc-bench")


def main():
    folder = sys.argv[1]
    if not os.path.exists(folder):
        os.makedirs(folder)
        write_arrays(folder)
    programs = {side: program(side) for side in SIDES}
    best, sums = {}, {}
    for _ in range(5):
        for side, path in programs.items():
            out = subprocess.run([path, folder], check=True, capture_output=True, text=True).stdout
            for line in out.splitlines():
                name, whole, rows, found = line.split("\t")
                assert sums.setdefault(name, found) == found, f"{name}: {side} reads something else"
                before = best.get((name, side), (float("inf"), float("inf")))
                best[name, side] = (min(before[0], float(whole)), min(before[1], float(rows)))
    print("| CPU ms | whole: C-Blosc | ours | 20 rows: C-Blosc | ours |\n|---|---|---|---|---|")
    for name in sums:
        (whole, rows), (our_whole, our_rows) = (best[name, side] for side in SIDES)
        print(f"| {name} | {whole:.0f} | {our_whole:.0f} ({whole / our_whole:.2f} x) | {rows:.1f} | {our_rows:.1f} ({rows / our_rows:.1f} x) |")


main()
