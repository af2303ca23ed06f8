"""The side of python-blosc2 in `cargo xtask bench-peers --only stores`."""

import dataclasses
import os
import shutil

import blosc2
import numpy

from side import serve

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def version(r):
    return blosc2.__version__


KINDS = dict(
    id=(int, blosc2.int64()),
    price=(float, blosc2.float64(nullable=True)),
    flag=(bool, blosc2.bool()),
    time=(object, blosc2.timestamp(unit="us")),
    name=(str, blosc2.utf8()),
    symbol=(str, blosc2.dictionary()),
    note=(str, blosc2.vlstring(nullable=True)),
    tags=(list[int], blosc2.list(blosc2.int64(), nullable=True)),
)
SYMBOLS = ["AAPL", "IBM", "MSFT", "ORCL"]


def make_table(r):
    """A column of every kind; one price and note of a hundred is null, every tenth row deleted if asked for."""
    fields = [(name, kind, blosc2.field(spec)) for name, (kind, spec) in KINDS.items()]
    row = dataclasses.make_dataclass("Row", fields)
    rows, step = r["rows"], 100_000
    table = blosc2.CTable(row, urlpath=r["root"], mode="w", expected_size=rows, create_summary_index=False)
    rng, at = numpy.random.default_rng(3), 10_000
    for start in range(0, rows, step):
        count = min(step, rows - start)
        ids = numpy.arange(start, start + count)
        walk = at + rng.integers(-3, 4, count).cumsum()
        at = walk[-1]
        table.extend(
            dict(
                id=ids,
                price=[None if n % 100 == 7 else p for n, p in zip(ids.tolist(), (walk / 100).tolist())],
                flag=rng.random(count) < 0.5,
                time=(ids * 1000 + rng.integers(0, 1000, count)).astype("datetime64[us]"),
                name=[f"name {n % 5000}" for n in ids.tolist()],
                symbol=[SYMBOLS[n] for n in rng.integers(0, 4, count).tolist()],
                note=[None if n % 100 == 3 else f"note {n * 7919 % 1000}" for n in ids.tolist()],
                tags=[list(range(n % 4)) for n in ids.tolist()],
            ),
            validate=False,
        )
    if r.get("deleted"):
        table.delete(numpy.arange(0, rows, r["deleted"]))
    table.close()


def make_tree(r):
    with blosc2.TreeStore(r["root"], mode="w") as store:
        for n in range(r["arrays"]):
            store[f"/g{n // 100}/a{n}"] = numpy.arange(n, n + 1000)


@case
def open_table(r):
    return len(blosc2.open(r["root"], mode="r"))


@case
def column(r):
    return len(blosc2.open(r["root"], mode="r")[r["name"]][:])


@case
def rows(r):
    table = blosc2.open(r["root"], mode="r")
    found = [table[row] for row in r["rows"]]
    return int(sum(row.id for row in found))


@case
def where(r):
    table = blosc2.open(r["root"], mode="r")
    return int(table.where(f"{r['name']} {r['above'] and '>' or '<'} {r['limit']}")["id"][:].sum())


@case
def all_columns(r):
    table = blosc2.open(r["root"], mode="r")
    return sum(len(table[name][:]) for name in KINDS)


@case
def open_tree(r):
    return len(list(blosc2.open(r["root"], mode="r").keys()))


@case
def tree_array(r):
    store = blosc2.open(r["root"], mode="r")
    return int(sum(store[key][:].sum() for key in r["keys"]))


if __name__ == "__main__":
    serve(CASES, globals())
