"""Times queries of b2-sql against DataFusion over Parquet, bcolz and python-blosc2: against_parquet.py B2_SQL FOLDER

FOLDER gets a table of 5 million rows as trades.bcolz, trades.b2z, trades.b2nd (records) and trades.parquet (Zstandard), and two of its
columns as noise.b2nd and volume.b2nd, unless it has them. Needs bcolz, blosc2 (the oracles of xtask), datafusion and pyarrow in one environment. Milliseconds of one query, by the processors
and by the wall, two threads, all answers compared. Of b2-sql: the difference between runs of 11 queries and of 1, best of 5, first with
another name for the table in each query, so that nothing is known of it, and then with one name; of the others: a tenth of 10, best of 5."""

import csv
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass

os.environ.setdefault("BLOSC_NTHREADS", "2")
os.environ.setdefault("NUMEXPR_NUM_THREADS", "2")

import bcolz
import blosc2
import datafusion
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

REPEATS = 10
NUMBERS = ["ts", "price", "volume", "flag", "noise"]
COLUMNS = ["ts", "sym", "price", "volume", "flag", "noise"]
SUM, GROUPS, RARE, COUNT, RANGE = "sum of 5 number columns", "group by, 10 % of the rows", "all columns of 4 rows", "count where", "range of 0.2 %"
QUERIES = {
    SUM: "SELECT sum(ts), sum(price), sum(volume), sum(flag), sum(noise) FROM {t}",
    GROUPS: "SELECT sym, avg(price) FROM {t} WHERE volume > 9000 GROUP BY sym ORDER BY sym",
    RARE: "SELECT ts, sym, price, volume, flag, noise FROM {t} WHERE noise > 5 ORDER BY ts",
    COUNT: "SELECT count(*) FROM {t} WHERE volume > 9000",
    RANGE: "SELECT sum(price) FROM {t} WHERE ts BETWEEN 1702000000 AND 1702010000",
}
# Of one column, which is an array by itself as well.
ALONE = {
    ("noise", "sum of one column"): "SELECT sum(noise) FROM {t}",
    ("noise", "count where of noise"): "SELECT count(*) FROM {t} WHERE noise > 1",
    ("volume", "count where of integers"): "SELECT count(*) FROM {t} WHERE volume > 9000",
}


@dataclass
class Row:
    ts: int = blosc2.field(blosc2.int64())
    sym: str = blosc2.field(blosc2.string(max_length=4))
    price: float = blosc2.field(blosc2.float64())
    volume: int = blosc2.field(blosc2.int32())
    flag: int = blosc2.field(blosc2.uint8())
    noise: float = blosc2.field(blosc2.float64())


def cell(value):
    value = value.decode() if isinstance(value, bytes) else value
    try:
        return f"{float(value):.9g}"
    except ValueError:
        return str(value)


def rows_of(columns):
    return [[cell(value) for value in row] for row in zip(*columns)]


def of_program(program, table, query, again):
    """CPU and wall, and the answer; `again` asks for one name of the table in all queries."""
    folder, base = os.path.split(table)
    name = lambda n: os.path.join(folder, *([] if again else ["."] * n), base)

    def run(times):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        text = ";".join(query.format(t=f"'{name(n)}'") for n in range(times))
        out = subprocess.run([program, "-t", "2", "-f", "csv", text], check=True, capture_output=True, text=True).stdout
        after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, end - start, out

    def best(times):
        cpu, wall, _ = zip(*(run(times) for _ in range(5)))
        return min(cpu), min(wall)

    answer = [[cell(value) for value in row] for row in csv.reader(run(1)[2].splitlines()[1:])]
    return *((many - one) * 1000 / REPEATS for many, one in zip(best(REPEATS + 1), best(1))), answer


def of_process(query):
    answer, cpu, wall = query(), float("inf"), float("inf")
    for _ in range(5):
        before, start = time.process_time(), time.perf_counter()
        for _ in range(REPEATS):
            query()
        cpu, wall = min(cpu, time.process_time() - before), min(wall, time.perf_counter() - start)
    return cpu * 1000 / REPEATS, wall * 1000 / REPEATS, rows_of(answer)


def of_parquet(table, query, pushdown):
    config = datafusion.SessionConfig().with_target_partitions(2)
    if pushdown:
        config = config.set("datafusion.execution.parquet.pushdown_filters", "true")
    context = datafusion.SessionContext(config)
    context.register_parquet("t", table)

    def run():
        found = pa.Table.from_batches(context.sql(query.format(t="t")).collect())
        return [column.to_pylist() for column in found.columns]

    return of_process(run)


def means(sym, price):
    """Average prices by symbol: text of four bytes is a number for NumPy."""
    keys, groups = np.unique(np.ascontiguousarray(sym).astype("S4").view("u4"), return_inverse=True)
    average = np.bincount(groups, price) / np.bincount(groups)
    names = keys.view("S4")
    order = np.argsort(names)
    return [names[order], average[order]]


def of_bcolz(path):
    table = bcolz.open(path, mode="r")

    def select(condition, names):
        found = table.fetchwhere(condition, outcols=names, out_flavor="numpy")
        return [found[name] for name in names]

    return {
        # Its sum of bytes is a byte, if no type is given.
        SUM: lambda: [[table[name].sum(dtype="f8" if table[name].dtype.kind == "f" else "i8")] for name in NUMBERS],
        GROUPS: lambda: means(*select("volume > 9000", ["sym", "price"])),
        RARE: lambda: select("noise > 5", COLUMNS),
        COUNT: lambda: [[len(select("volume > 9000", ["volume"])[0])]],
        RANGE: lambda: [[select("(ts >= 1702000000) & (ts <= 1702010000)", ["price"])[0].sum()]],
    }


def of_ctable(path):
    """python-blosc2 over the table of the store."""
    table = blosc2.CTable.open(path)

    def select(condition, names):
        found = table.where(condition)
        return [found[name][:] for name in names]

    return {
        SUM: lambda: [[table[name].sum()] for name in NUMBERS],
        GROUPS: lambda: means(*select("volume > 9000", ["sym", "price"])),
        RARE: lambda: select("noise > 5", COLUMNS),
        COUNT: lambda: [[table.where("volume > 9000").nrows]],
        RANGE: lambda: [[select("(ts >= 1702000000) & (ts <= 1702010000)", ["price"])[0].sum()]],
    }


def of_records(path):
    """python-blosc2 over the array of records."""
    array = blosc2.open(path)
    select = lambda condition: array[condition][:]

    def sums():
        whole = array[:]
        return [[whole[name].sum()] for name in NUMBERS]

    def rare():
        found = select("noise > 5")
        return [found[name] for name in COLUMNS]

    def groups():
        found = select("volume > 9000")
        return means(found["sym"], found["price"])

    return {
        SUM: sums,
        GROUPS: groups,
        RARE: rare,
        COUNT: lambda: [[len(select("volume > 9000"))]],
        RANGE: lambda: [[select("(ts >= 1702000000) & (ts <= 1702010000)")["price"].sum()]],
    }


def write_tables(path):
    n, random = 5_000_000, np.random.default_rng(1)
    columns = {
        "ts": np.arange(n) + 1_700_000_000,
        "sym": np.array([b"S%03d" % i for i in range(100)])[random.integers(0, 100, n)],
        "price": np.round(random.normal(100, 20, n), 2),
        "volume": random.integers(0, 10_000, n).astype("i4"),
        "flag": (np.arange(n) % 3 == 0).astype("u1"),
        "noise": random.normal(0, 1, n),
    }
    parameters = bcolz.cparams(cname="lz4", clevel=5)
    bcolz.ctable(list(columns.values()), names=list(columns), rootdir=path("trades.bcolz"), mode="w", cparams=parameters).flush()
    records = np.zeros(n, dtype=[(name, array.dtype) for name, array in columns.items()])
    for name, array in columns.items():
        records[name] = array
    blosc2.asarray(records, urlpath=path("trades.b2nd"), mode="w")
    for name in {name for name, _ in ALONE}:
        blosc2.asarray(columns[name], urlpath=path(f"{name}.b2nd"), mode="w")
    text = {**columns, "sym": columns["sym"].astype("U4")}
    with blosc2.CTable(Row, urlpath=path("trades.b2z"), mode="w", expected_size=n) as table:
        table.extend(text)
    pq.write_table(pa.table({**columns, "sym": list(text["sym"])}), path("trades.parquet"), compression="zstd", row_group_size=1 << 20)


def main():
    program, folder = sys.argv[1:]
    path = lambda name: os.path.join(folder, name)
    if not os.path.exists(path("trades.parquet")):
        write_tables(path)
    bcolz.set_nthreads(2)
    blosc2.set_nthreads(2)
    peers = {"bcolz 1.13": of_bcolz(path("trades.bcolz")), "python-blosc2, b2z": of_ctable(path("trades.b2z")), "python-blosc2, records": of_records(path("trades.b2nd"))}
    tables = ["bcolz", "b2z", "b2nd"]
    ours = [f"{table}{which}" for which in ["", ", again"] for table in tables]
    names = [*ours, "Parquet", "Parquet, filters pushed down", *peers]
    print("| CPU, wall (ms) | " + " | ".join(names) + " |\n|" + "---|" * (len(names) + 1))
    # By the processors and by the wall; all answers are those of the first.
    def report(name, names, timed):
        for table, (*_, answer) in zip(names, timed):
            assert answer == timed[0][2], f"{name}: {table}: {answer[:3]}, not {timed[0][2][:3]}"
        print(f"| {name} | " + " | ".join(f"{cpu:.1f}, {wall:.1f}" for cpu, wall, _ in timed) + " |", flush=True)

    for name, query in QUERIES.items():
        timed = [of_program(program, path(f"trades.{table}"), query, again) for again in [False, True] for table in tables]
        timed += [of_parquet(path("trades.parquet"), query, pushdown) for pushdown in [False, True]]
        timed += [of_process(queries[name]) for queries in peers.values()]
        report(name, names, timed)
    names = ["bcolz", "b2z", "b2nd of one column", "Parquet", "Parquet, filters pushed down"]
    print("\n| CPU, wall (ms) | " + " | ".join(names) + " |\n|" + "---|" * (len(names) + 1))
    for (column, name), query in ALONE.items():
        timed = [of_program(program, path(table), query, False) for table in ["trades.bcolz", "trades.b2z", f"{column}.b2nd"]]
        timed += [of_parquet(path("trades.parquet"), query, pushdown) for pushdown in [False, True]]
        report(name, names, timed)


main()
