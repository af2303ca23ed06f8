"""numcodecs with the library that is preloaded: waits for a line, measures once, prints the times.

    capi_bench.py worker        one library; each line "NBYTES CODEC NTHREADS" is answered by seconds
    capi_bench.py ORIGINAL OURS [--rounds N] [--only CODEC]
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

SIZES = [4 << 10, 64 << 10, 1 << 20, 16 << 20]
CODECS = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"]
SECONDS = 0.03


def worker():
    import numcodecs.blosc
    import numpy

    for line in sys.stdin:
        nbytes, codec, nthreads, kind = line.split()
        nbytes, nthreads = int(nbytes), int(nthreads)
        numcodecs.blosc.set_nthreads(nthreads)
        numcodecs.blosc.use_threads = nthreads > 1
        r = numpy.random.default_rng(1)
        data = numpy.cumsum(r.integers(0, 100, nbytes // 4), dtype="i4")
        compressor = numcodecs.Blosc(codec, clevel=5, shuffle=1)
        chunk = compressor.encode(data)
        out = numpy.empty_like(data)
        call = {
            "encode": lambda: compressor.encode(data),
            "decode": lambda: compressor.decode(chunk, out),
        }[kind]
        # A single thread's time is that of its processor: other programs take none of it.
        clock = time.thread_time if nthreads == 1 else time.perf_counter
        repeats = max(1, (64 << 10) // nbytes)
        call()
        count, start = 0, time.perf_counter()
        best = 1e9
        while time.perf_counter() - start < SECONDS or count < 3:
            before = clock()
            for _ in range(repeats):
                call()
            best = min(best, (clock() - before) / repeats)
            count += 1
        print(best, len(chunk), flush=True)


class Side:
    """A process with one library."""

    def __init__(self, path):
        variables = dict(os.environ, LD_PRELOAD=path)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        command = [sys.executable, "-B", __file__, "worker"]
        self.process = subprocess.Popen(command, text=True, env=variables, **pipes)

    def ask(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        seconds, cbytes = self.process.stdout.readline().split()
        return float(seconds), int(cbytes)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs=2)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--only")
    options = parser.parse_args()
    sides = [Side(path) for path in options.paths]
    ratios = {}
    print("codec    bytes     threads call    original ours     ratio   (us, cbytes)")
    for codec in [options.only] if options.only else CODECS:
        for nbytes in SIZES:
            for nthreads in (1, 2):
                for kind in ("encode", "decode"):
                    words = nbytes, codec, nthreads, kind
                    pairs = [[side.ask(*words) for side in sides] for _ in range(options.rounds)]
                    a, b = (min(pair[n][0] for pair in pairs) * 1e6 for n in (0, 1))
                    # A machine has slow phases: both times of a pair lie in the same one.
                    ratio = statistics.median(p[0][0] / p[1][0] for p in pairs)
                    ratios[codec, nbytes, nthreads, kind] = ratio
                    sizes = [pairs[0][n][1] for n in (0, 1)]
                    mark = "  BELOW" if ratio < 0.9 else ""
                    row = f"{codec:8} {nbytes:9} {nthreads} {kind}  {a:10.1f} {b:10.1f}"
                    print(f"{row} {ratio:6.2f} {sizes[0]:9} {sizes[1]:9}{mark}", flush=True)
    mean = statistics.geometric_mean(ratios.values())
    below = [key for key, ratio in ratios.items() if ratio < 0.9]
    print(f"mean {mean:.2f}, least {min(ratios.values()):.2f}, below 0.9: {len(below)} of {len(ratios)}")


if __name__ == "__main__":
    worker() if sys.argv[1:] == ["worker"] else main()
