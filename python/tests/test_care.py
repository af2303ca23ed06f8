"""Verify, rescue, seal, compact, convert."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import blosckit as bk
import numpy as np
import pytest


@pytest.fixture
def field(tmp_path):
    x = np.random.default_rng(0).integers(0, 1000, (100, 1000))
    path = tmp_path / "field.b2nd"
    bk.save(path, x, chunks=(10, 1000))
    return path, x


@pytest.fixture
def broken(field, tmp_path):
    path, _ = field
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 50] = bytes(50)
    broken = tmp_path / "broken.b2nd"
    broken.write_bytes(content)
    return broken


def test_verify(field, broken):
    path, _ = field
    report = bk.verify(path)
    assert report and report.ok and report.nchunks == 10 and report.nbytes == 800_000
    report.raise_for_damage()
    report = bk.verify(broken, threads=2)
    assert not report and (report.bad or report.other)
    with pytest.raises(bk.CorruptError) as caught:
        report.raise_for_damage()
    assert caught.value.path == str(broken)
    with pytest.raises(FileNotFoundError):
        bk.verify("/no/such")


def test_rescue(broken, tmp_path, field):
    _, x = field
    saved = tmp_path / "saved.b2nd"
    before = broken.read_bytes()
    report = bk.rescue(broken, saved, fill=np.int64(-1))
    assert not report and report.filled > 0 and report.nbytes == x.nbytes
    assert broken.read_bytes() == before
    y = bk.load(saved)
    assert (y == x).sum() >= 80_000 and ((y == x) | (y == -1)).all()
    with pytest.raises(FileExistsError):
        bk.rescue(broken, saved)
    with pytest.raises(bk.ParamError):
        bk.rescue(broken, tmp_path / "other", fill="ones")


def test_seal_and_compact(field, broken):
    path, x = field
    bk.seal(path, "chunks")
    assert bk.verify(path)
    with pytest.raises(bk.CorruptError):
        bk.seal(broken)
    with bk.open(path, "r+") as array:
        array[:5] = x[:5] + 1
    size = path.stat().st_size
    assert bk.compact(path) == size - path.stat().st_size > 0
    x[:5] += 1
    assert (bk.load(path) == x).all()


def test_convert(field, tmp_path):
    path, x = field
    for suffix in [".npy", ".blp", ".b2frame", ".sframe", ".bcolz", ".b2z"]:
        target = tmp_path / f"new{suffix}"
        report = bk.convert(path, target)
        assert report.nbytes == x.nbytes
        assert bk.verify(target)
    assert (np.load(tmp_path / "new.npy") == x).all()
    assert (bk.load(tmp_path / "new.blp") == x).all()
    report = bk.convert(path, tmp_path / "z.b2nd", codec="lz4", chunks=(50, 500))
    assert report.recompressed == 4 and bk.open(report.path).chunks == (50, 500)
    with pytest.raises(FileExistsError):
        bk.convert(path, tmp_path / "z.b2nd")
    with pytest.raises(ValueError):
        bk.convert(path, tmp_path / "z.txt")


def test_progress_and_what_it_raises(field, tmp_path):
    path, _ = field
    seen = []
    assert bk.verify(path, progress=lambda done, total: seen.append(done))
    assert seen and seen[-1] > 0

    def fail(done, total):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        bk.verify(path, progress=fail)
    with pytest.raises(ZeroDivisionError):
        bk.convert(path, tmp_path / "x.npy", progress=fail)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_ctrl_c_ends_the_work(tmp_path):
    path = tmp_path / "large.b2nd"
    items = np.random.default_rng(0).integers(0, 50, (20, 200_000))
    bk.save(path, items, chunks=(1, 200_000))
    # A shell starts what runs beside it without SIGINT, and its children inherit that.
    code = f"""
import signal
import blosckit as bk
signal.signal(signal.SIGINT, signal.default_int_handler)
print("ready", flush=True)
try:
    while True:
        bk.verify({str(path)!r}, threads=1)
except KeyboardInterrupt:
    print("ended", flush=True)
"""
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout.readline().strip() == "ready"
    time.sleep(1)
    os.kill(child.pid, signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert out.strip() == "ended", err
