"""Reading in children, however they were started, with threads."""

from __future__ import annotations

import multiprocessing
import os
import sys
import time

import blosckit as bk
import numpy as np
import pytest

LIMIT = 60


def _sum(path):
    array = bk.open(path, threads=4)
    chunk = bk.compress(np.arange(600_000), threads=4)
    return float(array[...].sum()) + len(bk.decompress(chunk, threads=4))


def _sum_of(array):
    return float(np.asarray(array[...]).sum())


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    path = tmp_path_factory.mktemp("fork") / "large.b2nd"
    x = np.random.default_rng(0).integers(0, 100, (2000, 1000)).astype("f8")
    bk.save(path, x, chunks=(100, 1000), codec="lz4")
    return str(path), float(x.sum())


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_children_read(large, method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    path, total = large
    expected = total + 600_000 * 8
    # Threads of this process have worked before the children begin.
    assert _sum(path) == expected
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        result = pool.map_async(_sum, [path] * 4)
        assert result.get(LIMIT) == [expected] * 4
        opened = bk.open(path)
        assert pool.apply_async(_sum_of, (opened,)).get(LIMIT) == total


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("case", ["old", "new", "chunk", "compress", "verify"])
def test_a_forked_child_ends(large, case):
    path, _ = large
    old = bk.open(path, threads=4)
    old[...]
    x = np.arange(1_000_000)
    chunk = bk.compress(x, threads=4)
    bk.decompress(chunk, threads=4)
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            match case:
                case "old":
                    old[...]
                case "new":
                    bk.open(path)[...]
                case "chunk":
                    bk.decompress(chunk, threads=4)
                case "compress":
                    bk.compress(x, threads=4)
                case "verify":
                    bk.verify(path, threads=4)
            code = 0
        finally:
            os._exit(code)
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            assert status == 0
            return
        time.sleep(0.02)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    pytest.fail("the child hangs")
