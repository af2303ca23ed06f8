"""Names that the documents promise, as a user meets them; wrong arguments raise as with NumPy."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tracemalloc

import blosckit as bk
import numpy as np
import pytest


@pytest.fixture
def field(tmp_path):
    x = np.arange(6000, dtype="f4").reshape(60, 100)
    path = tmp_path / "field.b2nd"
    bk.save(path, x, chunks=(20, 100))
    return path, x


def test_properties_of_all_kinds(field, tmp_path):
    path, x = field
    array = bk.open(path)
    names = "shape dtype chunks blocks nbytes cbytes cratio cparams attrs meta vlmeta path"
    for name in names.split():
        assert getattr(array, name) is not None
    with bk.create(tmp_path / "f.b2frame", typesize=4) as frame:
        frame.append(x)
        frame.attrs["unit"] = "K"
    frame = bk.open(tmp_path / "f.b2frame")
    assert frame.cratio > 1 and frame.meta == {} and b"K" in frame.vlmeta["unit"]
    pa = pytest.importorskip("pyarrow")
    with bk.create(tmp_path / "s.b2z") as store:
        store["/t"], store["/bytes"] = pa.table({"a": [1, 2, 3]}), b"some"
    table = bk.open(tmp_path / "s.b2z")["t"]
    assert table.cratio == table.nbytes / table.cbytes
    store = bk.open(tmp_path / "s.b2z")
    for item in [array, frame, table, store, store["bytes"]]:
        assert item.info()["format"] == item.format
        html = item._repr_html_()
        assert html.startswith("<table>") and html.endswith("</table>")
        assert type(item).__name__ in html and "\n" not in repr(item)
        item.close()
        assert item._repr_html_().startswith("<table>") and "closed" in repr(item)


def test_html_has_no_holes(tmp_path):
    path = tmp_path / "<script>.b2nd"
    bk.save(path, np.zeros(3))
    assert "<script>" not in bk.open(path)._repr_html_()


def test_dlpack(field):
    path, x = field
    taken = np.from_dlpack(bk.open(path))
    assert (taken == x).all()
    assert bk.open(path).__dlpack_device__() == (1, 0)


def test_wrong_arguments_raise_as_with_numpy(field):
    path, x = field
    array = bk.open(path)
    for wrong in [60, -61, (0, 100), (0, 0, 0), "f", 1.5, (..., ...), [60], np.ones(7, bool)]:
        kinds = []
        for items in (x, array):
            with pytest.raises((IndexError, ValueError)) as caught:
                items[wrong]
            kinds.append(caught.type)
        assert kinds[0] is kinds[1], wrong
    for work in (lambda a: len(a[0, 0]), lambda a: a[object()], lambda a: iter(a[0, 0])):
        kinds = []
        for items in (x, array):
            with pytest.raises((TypeError, IndexError)) as caught:
                work(items)
            kinds.append(caught.type)
        assert kinds[0] is kinds[1]
    with pytest.raises(TypeError):
        bk.open(path, threads="two")
    with pytest.raises(TypeError):
        bk.open(path, unknown=1)
    with pytest.raises(ValueError):
        bk.open(path, threads=0)
    with pytest.raises((TypeError, ValueError)):
        bk.open(path, offset="3")


@pytest.mark.parametrize("name", ["seal", "compact", "convert", "verify", "rescue"])
def test_progress_of_all_care(name, field, tmp_path):
    path, _ = field
    more = [tmp_path / "new.b2nd"] if name in ("convert", "rescue") else []
    seen = []
    getattr(bk, name)(path, *more, progress=lambda done, total: seen.append((done, total)))
    assert seen and all(done >= 0 for done, _ in seen)

    def fail(done, total):
        raise ZeroDivisionError

    more = [tmp_path / "other.b2nd"] if more else []
    with pytest.raises(ZeroDivisionError):
        getattr(bk, name)(path, *more, progress=fail)
    assert bk.verify(path)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize("name", ["seal", "compact", "convert"])
def test_ctrl_c_leaves_a_sound_file(name, tmp_path):
    path = tmp_path / "large.b2nd"
    items = np.random.default_rng(0).integers(0, 1 << 40, (10, 100_000))
    bk.save(path, items, chunks=(1, 100_000))
    call = {
        "seal": "bk.seal(path, 'chunks', threads=1, progress=told)",
        "compact": "bk.compact(path, progress=told)",
        "convert": "bk.convert(path, path + '.npy', overwrite=True, progress=told)",
    }[name]
    # A shell starts what runs beside it without SIGINT, and its children inherit that.
    code = f"""
import os, signal, sys
import blosckit as bk
signal.signal(signal.SIGINT, signal.default_int_handler)
path = sys.argv[1]
def told(done, total):
    os.kill(os.getpid(), signal.SIGINT)
try:
    {call}
except KeyboardInterrupt:
    print("ended")
"""
    child = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(child, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "ended", done.stderr
    assert bk.verify(path) and (bk.load(path) == items).all()
    # A short conversion may have ended before.
    assert all((np.load(new) == items).all() for new in tmp_path.glob("*.npy*"))


def _rounds(path, x):
    chunk = bk.compress(x, "zstd")
    frame = bk.pack_array(x[:2])

    def work():
        bk.decompress(chunk)
        bk.unpack_array(frame)
        with bk.open(path) as array:
            array[3, 4], array[[1, 2]], array[:2, ::7], array[x > 5990], array.attrs, array.info()
        for wrong in (lambda: bk.decompress(chunk[:-1]), lambda: bk.open(path)[99]):
            try:
                wrong()
            except (bk.BloscError, IndexError):
                pass

    return work


def test_a_thousand_rounds_leak_nothing(field):
    path, x = field
    work = _rounds(path, x)
    for _ in range(50):
        work()
    gc.collect()
    objects, resident = len(gc.get_objects()), _resident()
    tracemalloc.start()
    work()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(1000):
        work()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert len(gc.get_objects()) - objects < 50
    assert grown < 50_000, grown
    # Python does not see the memory that the extension module keeps.
    assert _resident() - resident < 20 << 20


def _resident():
    """Bytes of this process that are in memory."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def test_references_are_given_back(field):
    _, x = field
    data = bytearray(x.tobytes())
    out = bytearray(len(data))
    counts = sys.getrefcount(data), sys.getrefcount(out)
    for _ in range(100):
        chunk = bk.compress(data, typesize=4)
        bk.decompress(chunk, out=out)
    assert (sys.getrefcount(data), sys.getrefcount(out)) == counts
    # No buffer is held: both can be resized.
    data.append(0)
    out.append(0)
