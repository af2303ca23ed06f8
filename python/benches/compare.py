"""Times beside those of python-blosc2 and numcodecs: `cargo xtask python bench`.

The two sides of a case do the same work on the same data, in turns, in many short rounds; the best
round of each counts, so that other work on the machine does less harm. A table of all cases is
printed. The exit code is 1 if a group is slower in the mean (geometric), or a case below 0.8.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import blosc2
import blosckit as bk
import blosckit.numcodecs
import numcodecs
import numcodecs.blosc
import numpy as np

Work = Callable[[], object]
#: A group is at least as fast as the original in the mean, and a case not slower than this.
LEAST = 0.8
#: A round is repeated within a measurement until it takes this long (seconds).
STEP = 0.002
#: A case takes about this long (seconds).
SECONDS = 2


@dataclass
class Case:
    """The same work by two packages."""

    group: str
    name: str
    ours: Work
    theirs: Work
    peer: str = "blosc2"
    #: The two give equal results; checked once.
    same: bool = True
    times: tuple[float, float] = (math.inf, math.inf)

    @property
    def ratio(self) -> float:
        """Their time for each unit of ours: above 1 ours is faster."""
        return self.times[1] / self.times[0]


def walk(nbytes: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """A random walk, as sensors deliver it."""
    return np.cumsum(np.random.default_rng(1).integers(-100, 100, nbytes // 8))


def buffers() -> Iterator[Case]:
    """Chunks in memory: one thread on both sides, and two for long ones."""
    lz4 = {"codec": blosc2.Codec.LZ4, "clevel": 5, "filters": [blosc2.Filter.SHUFFLE]}
    sizes = [1 << 10, 16 << 10, 256 << 10, 1 << 20, 16 << 20]
    for nbytes, n in [*((size, 1) for size in sizes), (16 << 20, 2)]:
        x = walk(nbytes)
        size = f"{nbytes >> 10} KiB" if nbytes < 1 << 20 else f"{nbytes >> 20} MiB"
        size += ", 2 threads" if n > 1 else ""
        chunk, out, other = bk.compress(x), np.empty_like(x), np.empty_like(x)
        group = "blosc2: chunks"
        yield Case(
            group,
            f"compress {size}",
            lambda x=x, n=n: bk.compress(x, threads=n),
            lambda x=x, n=n: blosc2.compress2(x, typesize=8, nthreads=n, **lz4),
            same=False,
        )
        yield Case(
            group,
            f"decompress {size}",
            lambda c=chunk, n=n: bk.decompress(c, threads=n),
            lambda c=chunk, n=n: blosc2.decompress2(c, nthreads=n),
        )
        yield Case(
            group,
            f"decompress {size} into an array",
            lambda c=chunk, n=n, out=out: bk.decompress(c, out=out, threads=n),
            lambda c=chunk, n=n, out=other: blosc2.decompress2(c, dst=out, nthreads=n),
            same=False,
        )


def codecs() -> Iterator[Case]:
    """The codec of Zarr 2 and 3, as numcodecs has it. numcodecs has one thread there."""
    numcodecs.blosc.use_threads = False
    for nbytes in [1 << 10, 16 << 10, 256 << 10, 1 << 20, 16 << 20]:
        for cname in ["lz4", "zstd"]:
            x = walk(nbytes)
            size = f"{nbytes >> 10} KiB" if nbytes < 1 << 20 else f"{nbytes >> 20} MiB"
            ours = blosckit.numcodecs.Blosc(cname, 5)
            theirs = numcodecs.Blosc(cname, 5)
            chunk, out, other = theirs.encode(x), np.empty_like(x), np.empty_like(x)
            group = "numcodecs: codec"
            yield Case(
                group,
                f"{cname}, encode {size}",
                lambda c=ours, x=x: c.encode(x),
                lambda c=theirs, x=x: c.encode(x),
                "numcodecs",
                same=False,
            )
            yield Case(
                group,
                f"{cname}, decode {size}",
                lambda c=ours, chunk=chunk: c.decode(chunk),
                lambda c=theirs, chunk=chunk: c.decode(chunk),
                "numcodecs",
            )
            yield Case(
                group,
                f"{cname}, decode {size} into an array",
                lambda c=ours, chunk=chunk, out=out: c.decode(chunk, out),
                lambda c=theirs, chunk=chunk, out=other: c.decode(chunk, out),
                "numcodecs",
                same=False,
            )


def arrays(folder: Path) -> Iterator[Case]:
    """Parts of an array of 40 MB with chunks of 5 MB, opened by both."""
    x = walk(40_000_000).reshape(2000, 2500)
    path = str(folder / "x.b2nd")
    cparams = {"codec": blosc2.Codec.LZ4, "clevel": 5}
    options = {"chunks": (250, 2500), "urlpath": path, "mode": "w", "cparams": cparams}
    blosc2.asarray(x, **options)
    ours, theirs = bk.open(path), blosc2.open(path, mode="r")
    rng = np.random.default_rng(2)
    rows, columns = rng.integers(0, 2000, 1000), rng.integers(0, 2500, 1000)
    mask = rng.random(2000) < 0.01
    keys = {
        "one item": (1234, 567),
        "a row of 20 KB": 1234,
        "50 x 50": np.s_[700:750, 900:950],
        "500 rows, 10 MB": np.s_[700:1200],
        "a column": np.s_[:, 567],
        "every 100th row": np.s_[::100],
        "all, 40 MB": ...,
        "a list of 20 rows": rows[:20].tolist(),
        "a mask of rows": mask,
        "1000 points": (rows, columns),
        "4 rows, 3 columns": ([1, 500, 900, 1999], slice(0, 3)),
    }
    for name, key in keys.items():
        yield Case("arrays", name, lambda k=key: ours[k], lambda k=key: theirs[k])
    yield Case(
        "opening",
        "an array, and one item",
        lambda p=path: bk.open(p)[1234, 567],
        lambda p=path: blosc2.open(p, mode="r")[1234, 567],
    )
    yield Case(
        "opening",
        "an array",
        lambda p=path: bk.open(p).shape,
        lambda p=path: blosc2.open(p, mode="r").shape,
    )
    yield Case("8 threads", "rows of one array", in_threads(ours), in_threads(theirs), same=False)


def in_threads(array: Any) -> Work:
    """Eight threads read 20 parts each of one object."""

    def read(seed: int) -> None:
        for at in np.random.default_rng(seed).integers(0, 1990, 20):
            array[at : at + 10]

    def work() -> None:
        threads = [threading.Thread(target=read, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return work


def small_arrays(folder: Path) -> Iterator[Case]:
    """Arrays in memory, and a frame of bytes."""
    for nbytes in [1 << 10, 1 << 20]:
        x = walk(nbytes)
        size = f"{nbytes >> 10} KiB"
        ours, theirs = bk.pack_array(x), blosc2.pack_tensor(x)
        yield Case(
            "opening",
            f"an array of {size} in memory: pack",
            lambda x=x: bk.pack_array(x),
            lambda x=x: blosc2.pack_tensor(x),
            same=False,
        )
        yield Case(
            "opening",
            f"an array of {size} in memory: unpack",
            lambda f=ours: bk.unpack_array(f),
            lambda f=theirs: blosc2.unpack_tensor(f),
        )
    path = str(folder / "log.b2frame")
    frame = blosc2.SChunk(chunksize=1 << 20, urlpath=path, mode="w", cparams={"typesize": 8})
    frame.append_data(walk(1 << 20))
    yield Case(
        "opening",
        "a frame, and 100 items",
        lambda: bk.open(path)[100:200],
        lambda: blosc2.open(path, mode="r")[100:200],
    )


def tables(folder: Path) -> Iterator[Case]:
    """A table of a million rows."""
    import pyarrow as pa

    n = 1_000_000
    data = pa.table(
        {
            "day": np.arange(n, dtype="i4") // 1000,
            "price": walk(n * 8) / 4,
            "volume": np.random.default_rng(3).integers(0, 1000, n),
        }
    )
    path = str(folder / "t.b2z")
    theirs = blosc2.CTable.from_arrow(data.schema, data.to_batches(), urlpath=path, capacity_hint=n)
    theirs.close()
    theirs = blosc2.CTable.open(path, mode="r")
    ours = bk.open(path)
    yield Case(
        "tables",
        "open",
        lambda: len(bk.open(path)),
        lambda: len(blosc2.CTable.open(path, mode="r")),
    )
    for name in data.column_names:
        yield Case(
            "tables",
            f"column {name}: {data[name].type}",
            lambda c=name: ours[c][:],
            lambda c=name: theirs[c][:],
        )
        yield Case(
            "tables",
            f"column {name}: 1000 rows",
            lambda c=name: ours[c][500_000:501_000],
            lambda c=name: theirs[c][500_000:501_000],
        )
    yield Case(
        "tables", "all to Arrow", lambda: pa.table(ours), lambda: theirs.to_arrow(), same=False
    )


def imports() -> Iterator[Case]:
    """Importing, in a process that has NumPy; times are those that it measures."""

    def importing(module: str) -> Work:
        code = (
            "import numpy, time; t = time.perf_counter()\n"
            f"import {module}; print(time.perf_counter() - t)"
        )
        # Compiled once, as an installed package is.
        unset = {key: value for key, value in os.environ.items() if "BYTECODE" not in key}
        return lambda: Seconds(subprocess.check_output([sys.executable, "-c", code], env=unset))

    yield Case("import", "blosckit", importing("blosckit"), importing("blosc2"), same=False)


class Seconds(float):
    """A time that the work has measured by itself."""


def one_round(work: Work, repeats: int) -> float:
    """Seconds that the work takes once."""
    start = time.perf_counter()
    for _ in range(repeats):
        result = work()
    seconds = (time.perf_counter() - start) / repeats
    return float(result) if isinstance(result, Seconds) else seconds


def equal(one: Any, other: Any) -> bool:
    """Whether two results are the same items."""
    if isinstance(one, bytes | int):
        return bool(one == other)
    return bool(np.array_equal(np.asarray(one), np.asarray(other)))


def measure(case: Case, rounds: int) -> None:
    """Both sides in turns; the best of each is kept."""
    if case.same and not equal(case.ours(), case.theirs()):
        raise AssertionError(f"{case.group}, {case.name}: results differ")
    once = [one_round(work, 1) for work in (case.ours, case.theirs)]
    repeats = [max(1, int(STEP / max(seconds, 1e-9))) for seconds in once]
    # Long ones have fewer rounds, but enough of them.
    one = sum(max(seconds, STEP) for seconds in once)
    rounds = min(rounds, max(5, int(SECONDS / one)))
    best = list(case.times)
    for turn in range(rounds):
        for side in (0, 1) if turn % 2 else (1, 0):
            work = (case.ours, case.theirs)[side]
            best[side] = min(best[side], one_round(work, repeats[side]))
    case.times = (best[0], best[1])


def shown(seconds: float) -> str:
    """Microseconds, to three digits."""
    us = seconds * 1e6
    return f"{us:,.0f}" if us >= 100 else f"{us:.3g}"


def mean(cases: list[Case]) -> float:
    """The geometric mean of the ratios."""
    return math.exp(sum(math.log(case.ratio) for case in cases) / len(cases))


def machine() -> str:
    """The processor and the versions."""
    info = Path("/proc/cpuinfo")
    names = [line for line in info.read_text().splitlines() if "model name" in line]
    cpu = names[0].partition(":")[2].strip() if names else platform.processor()
    return (
        f"{cpu}, {os.cpu_count()} processors, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, blosckit {bk.__version__}, blosc2 {blosc2.__version__}, "
        f"numcodecs {numcodecs.__version__}"
    )


def report(cases: list[Case]) -> bool:
    """Prints the table; whether all goals are met."""
    print(f"\n{machine()}\n")
    print("| | microseconds here | original | times as fast |\n|---|--:|--:|--:|")
    is_met = True
    for group in dict.fromkeys(case.group for case in cases):
        members = [case for case in cases if case.group == group]
        total = mean(members)
        is_met &= total >= 1 and all(case.ratio >= LEAST for case in members)
        print(f"| **{group}**: mean of {len(members)} | | | **{total:.2f}** |")
        for case in members:
            ours, theirs = map(shown, case.times)
            name = case.name if case.peer in case.group else f"{case.name} ({case.peer})"
            print(f"| {name} | {ours} | {theirs} | {case.ratio:.2f} |")
    return is_met


def main() -> int:
    """Measures all cases, or those whose names contain a text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--only", default="", help="groups and names that contain this")
    options = parser.parse_args()
    print(f"blosckit of {Path(bk.__file__).parent}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources = [buffers(), codecs(), arrays(folder), small_arrays(folder), tables(folder)]
        cases = [case for source in [*sources, imports()] for case in source]
        cases = [case for case in cases if options.only in f"{case.group}: {case.name}"]
        cases.sort(key=lambda case: case.group)
        for case in cases:
            measure(case, options.rounds)
            if case.ratio < 1:
                # Perhaps other work was in the way of one side.
                measure(case, options.rounds)
            print(f"{case.group}: {case.name}: {case.ratio:.2f}", file=sys.stderr)
        return 0 if report(cases) else 1


if __name__ == "__main__":
    sys.exit(main())
