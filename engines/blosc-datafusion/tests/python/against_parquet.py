"""Times queries of b2-sql over tables of bcolz and arrays against DataFusion over Parquet: against_parquet.py B2_SQL FOLDER

FOLDER gets a table of 5 million rows as trades.bcolz, trades.b2nd and trades.parquet (Zstandard), unless it has them. Needs bcolz and blosc2
to write the first two (the oracles of xtask), and datafusion and pyarrow for the third, in this or in another environment. CPU milliseconds
of one query: the difference between runs of 11 and of 1, best of 5."""

import os
import resource
import subprocess
import sys
import time

REPEATS = 10
QUERIES = {
    "sum of 5 number columns": "SELECT sum(ts), sum(price), sum(volume), sum(flag), sum(noise) FROM {t}",
    "group by, 10 % of the rows": "SELECT sym, avg(price) FROM {t} WHERE volume > 9000 GROUP BY sym",
    "all columns of 4 rows": "SELECT * FROM {t} WHERE noise > 5",
    "count where": "SELECT count(*) FROM {t} WHERE volume > 9000",
    "range of 0.2 %": "SELECT sum(price) FROM {t} WHERE ts BETWEEN 1702000000 AND 1702010000",
}


def of_program(program, table, query):
    def run(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        text = ";".join([query.format(t=f"'{table}'")] * times)
        subprocess.run([program, "-t", "2", "-f", "csv", text], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    best = lambda times: min(run(times) for _ in range(5))
    return (best(REPEATS + 1) - best(1)) * 1000 / REPEATS


def of_parquet(table, query, pushdown):
    import datafusion

    config = datafusion.SessionConfig().with_target_partitions(2)
    if pushdown:
        config = config.set("datafusion.execution.parquet.pushdown_filters", "true")
    context = datafusion.SessionContext(config)
    context.register_parquet("t", table)
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        for _ in range(REPEATS):
            context.sql(query.format(t="t")).collect()
        best = min(best, time.process_time() - start)
    return best * 1000 / REPEATS


def write_parquet(folder):
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = dict(np.load(os.path.join(folder, "columns.npz")))
    columns["sym"] = [text.decode() for text in columns["sym"]]
    table = pa.table(columns)
    pq.write_table(table, os.path.join(folder, "trades.parquet"), compression="zstd", row_group_size=1 << 20)


def write_tables(folder):
    import bcolz
    import blosc2
    import numpy as np

    n, random = 5_000_000, np.random.default_rng(1)
    columns = {
        "ts": np.arange(n) + 1_700_000_000,
        "sym": np.array([b"S%03d" % i for i in range(100)])[random.integers(0, 100, n)],
        "price": np.round(random.normal(100, 20, n), 2),
        "volume": random.integers(0, 10_000, n).astype("i4"),
        "flag": (np.arange(n) % 3 == 0).astype("u1"),
        "noise": random.normal(0, 1, n),
    }
    path = os.path.join(folder, "trades.bcolz")
    parameters = bcolz.cparams(cname="lz4", clevel=5)
    bcolz.ctable(list(columns.values()), names=list(columns), rootdir=path, mode="w", cparams=parameters).flush()
    records = np.zeros(n, dtype=[(name, array.dtype) for name, array in columns.items()])
    for name, array in columns.items():
        records[name] = array
    blosc2.asarray(records, urlpath=os.path.join(folder, "trades.b2nd"), mode="w")
    np.savez(os.path.join(folder, "columns.npz"), **columns)


def main():
    program, folder = sys.argv[1:]
    path = lambda name: os.path.join(folder, name)
    if not os.path.exists(path("columns.npz")):
        write_tables(folder)
        print("tables are there; run this again with datafusion and pyarrow")
        return
    if not os.path.exists(path("trades.parquet")):
        write_parquet(folder)
    print("| CPU ms | bcolz | b2nd of records | Parquet | Parquet, filters pushed down |\n|---|---|---|---|---|")
    for name, query in QUERIES.items():
        ours = [of_program(program, path(table), query) for table in ["trades.bcolz", "trades.b2nd"]]
        theirs = [of_parquet(path("trades.parquet"), query, pushdown) for pushdown in [False, True]]
        print(f"| {name} | " + " | ".join(f"{ms:.1f}" for ms in ours + theirs) + " |", flush=True)


main()
