"""Compares `b2-sql` with NumPy over tables that bcolz and python-blosc2 wrote: queries.py B2_SQL"""

import csv
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import bcolz
import blosc2
import numpy as np

ROWS = 200_000


@dataclass
class Row:
    id: int = blosc2.field(blosc2.int64())
    sym: str = blosc2.field(blosc2.string(max_length=4))
    price: float = blosc2.field(blosc2.float64())
    volume: int = blosc2.field(blosc2.int32())


def columns():
    random = np.random.default_rng(20)
    price = np.round(random.normal(100, 20, ROWS), 2)
    price[::97] = np.nan
    return {
        "id": np.arange(ROWS),
        "sym": np.array([f"S{n}" for n in range(50)])[random.integers(0, 50, ROWS)].astype("U4"),
        "price": price,
        "volume": random.integers(-1000, 10_000, ROWS).astype("i4"),
    }


def write(folder, data):
    order = list(data)
    as_bytes = [data["sym"].astype("S4") if name == "sym" else data[name] for name in order]
    bcolz.ctable(as_bytes, names=order, rootdir=str(folder / "t.bcolz"), mode="w").flush()
    records = np.zeros(ROWS, dtype=[(name, data[name].dtype) for name in order])
    for name in order:
        records[name] = data[name]
    blosc2.asarray(records, urlpath=str(folder / "t.b2nd"), mode="w")
    for name in ["t.b2z", "t.b2d"]:
        with blosc2.CTable(Row, urlpath=str(folder / name), mode="w", expected_size=ROWS) as table:
            table.extend(data)
    return ["t.bcolz", "t.b2nd", "t.b2z", "t.b2d"]


def answers(data):
    """Conditions of SQL and what they are in NumPy; NaN is the largest number of the engine."""
    sym, price, volume = data["sym"], data["price"], data["volume"]
    larger = np.isnan(price)
    return {
        "price > 120": (price > 120) | larger,
        "price > 120 AND price <= 121": (price > 120) & (price <= 121),
        "volume BETWEEN 10 AND 20": (volume >= 10) & (volume <= 20),
        "sym = 'S7'": sym == "S7",
        "sym IN ('S1', 'S49') AND volume < 0": ((sym == "S1") | (sym == "S49")) & (volume < 0),
        "NOT (volume >= 0) OR id < 3": (volume < 0) | (data["id"] < 3),
        "isnan(price)": larger,
        "volume % 7 = 3 AND price < 90": (np.fmod(volume, 7) == 3) & (price < 90),
        "id = 199999": data["id"] == 199999,
        "id < 0": data["id"] < 0,
    }


def main():
    program, count = sys.argv[1], 0
    data = columns()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for table in write(folder, data):
            for condition, wanted in answers(data).items():
                query = f"SELECT id, sym, volume FROM '{folder / table}' WHERE {condition} ORDER BY id"
                out = subprocess.run([program, "-f", "csv", query], capture_output=True, text=True)
                assert out.returncode == 0, (table, condition, out.stderr)
                found = [tuple(row) for row in csv.reader(out.stdout.splitlines())]
                kept = [data[name][wanted] for name in ["id", "sym", "volume"]]
                expected = [("id", "sym", "volume")]
                expected += [tuple(map(str, row)) for row in zip(*kept)]
                assert found == expected, (table, condition, len(found), len(expected))
                count += 1
    print(f"{count} queries over {ROWS} rows: as NumPy says")


main()
