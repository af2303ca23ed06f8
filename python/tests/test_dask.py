"""dask: arrays as they are opened, in threads, in processes, in a cluster of processes."""

from __future__ import annotations

import subprocess
import sys

import blosckit as bk
import numpy as np
import pytest

da = pytest.importorskip("dask.array")
LIMIT = 120


@pytest.fixture
def field(tmp_path):
    x = np.random.default_rng(0).normal(size=(200, 100))
    path = tmp_path / "x.b2nd"
    bk.save(path, x, chunks=(50, 100))
    return path, x


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
def test_from_array(field, scheduler):
    path, x = field
    array = bk.open(path)
    lazy = da.from_array(array, chunks=array.chunks)
    assert lazy.shape == x.shape and lazy.dtype == x.dtype and lazy.chunks[0] == (50,) * 4
    options = {"scheduler": scheduler, "num_workers": 2}
    assert (lazy[30:80, ::7].compute(**options) == x[30:80, ::7]).all()
    assert np.isclose((lazy - lazy.mean(axis=0)).std().compute(**options), (x - x.mean(0)).std())


def test_members_of_stores_and_fields_of_records(tmp_path):
    records = np.zeros(1000, dtype=[("day", "<i4"), ("price", "<f8")])
    records["price"] = np.arange(1000) / 4
    bk.save(tmp_path / "r.b2nd", records, chunks=(100,))
    with bk.create(tmp_path / "s.b2z") as store:
        store["/a"] = np.arange(1000)
    price = bk.open(tmp_path / "r.b2nd")["price"]
    member = bk.open(tmp_path / "s.b2z")["a"]
    for array, total in [(price, records["price"].sum()), (member, 499_500)]:
        lazy = da.from_array(array, chunks=array.chunks)
        assert lazy.sum().compute(scheduler="processes", num_workers=2) == total


def test_a_token_stands_for_the_content(field, tmp_path):
    tokenize = pytest.importorskip("dask.base").tokenize
    path, x = field
    with bk.create(tmp_path / "s.b2z") as store:
        store["/a"], store["/b"] = x, x
    store = bk.open(tmp_path / "s.b2z")
    tokens = {tokenize(bk.open(path)), tokenize(store["a"]), tokenize(store["b"])}
    assert len(tokens) == 3
    assert tokenize(bk.open(path)) in tokens and tokenize(store["a"]) in tokens
    bk.save(path, x[:100], chunks=(50, 100))
    assert tokenize(bk.open(path)) not in tokens
    content = path.read_bytes()
    assert tokenize(bk.open(content)) == tokenize(bk.open(content))
    with open(path, "rb") as one, open(path, "rb") as other:
        assert tokenize(bk.open(one)) != tokenize(bk.open(other))


CLUSTER = """
import sys
import blosckit as bk
import dask.array as da
from distributed import Client, LocalCluster

if __name__ == "__main__":
    array = bk.open(sys.argv[1], threads=2)
    array[:60]
    lazy = da.from_array(array, chunks=array.chunks)
    options = dict(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None)
    with LocalCluster(**options) as cluster, Client(cluster, timeout=60) as client:
        rows = lambda n, array: float(array[n * 50 : n * 50 + 50].sum())
        parts = client.map(rows, range(4), array=array)
        workers = len(client.scheduler_info()["workers"])
        print(lazy.sum().compute(), sum(client.gather(parts)), workers)
"""


def test_a_cluster_of_processes(field, tmp_path):
    pytest.importorskip("distributed")
    path, x = field
    script = tmp_path / "cluster.py"
    script.write_text(CLUSTER)
    # A process of its own: one that hangs is ended.
    done = subprocess.run(
        [sys.executable, str(script), str(path)], capture_output=True, text=True, timeout=LIMIT
    )
    assert done.returncode == 0, done.stderr
    total, mapped, workers = map(float, done.stdout.split())
    assert np.isclose(total, x.sum()) and np.isclose(mapped, x.sum()) and workers == 2
