"""The side of bcolz-zipline in `cargo xtask bench-peers --only bcolz`."""

import bcolz
import numpy

from side import serve

CASES = {}
OPEN = {}


def case(function):
    CASES[function.__name__] = function
    return function


def opened(root):
    if root not in OPEN:
        OPEN[root] = bcolz.open(root, mode="r")
    return OPEN[root]


def forget(r):
    OPEN.clear()


def version(r):
    return bcolz.__version__


def make_array(r):
    """A random walk in steps of a cent, as prices go."""
    rng = numpy.random.default_rng(1)
    array = bcolz.carray(numpy.empty(0), rootdir=r["root"], mode="w", expectedlen=r["rows"])
    at = 10_000
    for start in range(0, r["rows"], 1_000_000):
        steps = rng.integers(-3, 4, min(1_000_000, r["rows"] - start))
        walk = at + steps.cumsum()
        at = walk[-1]
        array.append(walk / 100)
    array.flush()


def make_even_array(r):
    """Even steps, in chunks of 1 MiB."""
    array = bcolz.carray(numpy.empty(0), rootdir=r["root"], mode="w", chunklen=1 << 17)
    for part in numpy.array_split(numpy.linspace(0, 100, r["rows"]), 10):
        array.append(part)
    array.flush()


def make_table(r):
    rng = numpy.random.default_rng(2)
    rows = r["rows"]
    columns = dict(
        time=numpy.arange(rows) * 7 + rng.integers(0, 7, rows),
        price=(10_000 + rng.integers(-3, 4, rows).cumsum()) / 100,
        volume=rng.integers(1, 1000, rows).astype("i4"),
        symbol=rng.choice(numpy.array([b"AAPL", b"IBM", b"MSFT", b"ORCL"]), rows),
    )
    table = bcolz.ctable(list(columns.values()), names=list(columns), rootdir=r["root"], mode="w", expectedlen=rows)
    table.flush()


@case
def read_all(r):
    return len(opened(r["root"])[:])


@case
def items(r):
    array = opened(r["root"])
    return sum(array[row] for row in r["rows"])


@case
def total(r):
    return float(opened(r["root"]).sum())


@case
def where(r):
    found = opened(r["root"]).fetchwhere(r["expr"], outcols=r["names"], out_flavor="numpy")
    return len(found)


@case
def where_total(r):
    found = opened(r["root"]).fetchwhere(r["expr"], outcols=r["names"], out_flavor="numpy")
    return float(found[r["names"][0]].sum())


if __name__ == "__main__":
    serve(CASES, globals())
