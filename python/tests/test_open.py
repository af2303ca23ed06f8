"""`open` of anything."""

from __future__ import annotations

import io
import os
import pickle
import threading
from pathlib import Path

import blosckit as bk
import numpy as np
import pytest


@pytest.fixture
def field(tmp_path):
    x = np.arange(60_000, dtype="f4").reshape(200, 300)
    path = tmp_path / "field.b2nd"
    bk.save(path, x, chunks=(20, 300))
    return path, x


def test_paths_bytes_and_files(field):
    path, x = field
    content = path.read_bytes()
    sources = [path, str(path), content, bytearray(content), memoryview(content)]
    sources += [io.BytesIO(content), np.frombuffer(content, "u1")]
    for source in sources:
        with bk.open(source) as array:
            assert isinstance(array, bk.Array)
            assert array.shape == (200, 300) and array.dtype == np.float32
            assert (array[5:7] == x[5:7]).all()
            assert array.format == "b2nd" and array.chunks == (20, 300)
    with open(path, "rb") as file, bk.open(file) as array:
        assert (array[...] == x).all()


def test_offsets(tmp_path, field):
    path, x = field
    behind = tmp_path / "behind"
    behind.write_bytes(b"0123456789" + path.read_bytes())
    for opened in [
        bk.open(behind, offset=10),
        bk.open(f"{behind}@10"),
        bk.open(behind.read_bytes(), offset=10),
    ]:
        assert (opened[...] == x).all()
    with pytest.raises(ValueError):
        bk.open(behind, offset=-1)


def test_files_that_raise(field):
    path, _ = field

    class Fails(io.BytesIO):
        def read(self, size=-1):
            raise ZeroDivisionError("of the file")

    with pytest.raises(ZeroDivisionError, match="of the file"):
        bk.open(Fails(path.read_bytes()))

    class Later(io.BytesIO):
        fails = False

        def read(self, size=-1):
            if self.fails:
                raise KeyError("later")
            return super().read(size)

    file = Later(path.read_bytes())
    array = bk.open(file)
    file.fails = True
    with pytest.raises(KeyError):
        array[...]


def test_what_is_not_there_or_not_ours(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        bk.open(tmp_path / "none.b2nd")
    assert caught.value.errno == 2
    other = tmp_path / "other.txt"
    other.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    with pytest.raises(bk.BloscError) as error:
        bk.open(other)
    assert str(other) in str(error.value) and error.value.path == str(other)
    with pytest.raises(TypeError):
        bk.open(3)
    with pytest.raises(ValueError):
        bk.open(other, mode="a")


def test_closed_objects(field):
    path, _ = field
    array = bk.open(path)
    array.close()
    array.close()
    assert array.closed and "closed" in repr(array)
    for work in [lambda: array[0], lambda: array.attrs, lambda: array.__enter__()]:
        with pytest.raises(ValueError, match="closed"):
            work()


def test_pickling(field, tmp_path, monkeypatch):
    path, x = field
    monkeypatch.chdir(tmp_path)
    array = bk.open("field.b2nd", threads=2)
    sent = pickle.dumps(array)
    monkeypatch.chdir("/")
    assert (pickle.loads(sent)[3] == x[3]).all()
    frame = bk.open(path.read_bytes())
    assert (pickle.loads(pickle.dumps(frame))[3] == x[3]).all()
    with pytest.raises(TypeError):
        pickle.dumps(bk.open(io.BytesIO(path.read_bytes())))


def test_what_is_shown(field):
    path, _ = field
    array = bk.open(path)
    assert repr(array).count("\n") == 0 and "(200, 300)" in repr(array)
    assert array.info()["shape"] == (200, 300) and array.cratio > 1
    html = array._repr_html_()
    assert html.startswith("<table>") and "float32" in html
    assert "b2nd" in array.meta and array.vlmeta == {}
    assert "zstd" in array.cparams
    assert bk.chunk_info(array.chunk(0))["nbytes"] == 20 * 300 * 4
    with pytest.raises(IndexError):
        array.chunk(10)


def test_stores_are_mappings(tmp_path):
    path = tmp_path / "run.b2z"
    with bk.create(path) as store:
        store["/field"] = np.arange(10)
        store["/g/other"] = np.ones((2, 2))
        store["text"] = b"some bytes"
        store.set_attr("unit", "K")
        store.set_attr("name", [1, 2.5, None, {"a": True}], "/g")
    group = bk.open(path)
    assert isinstance(group, bk.Group)
    assert list(group) == ["/field", "/g/other", "/text"] and len(group) == 3
    assert group["/field"][3] == 3 and group["field"][3] == 3
    assert "/g/other" in group and "g/other" in group and "no" not in group
    assert group.attrs["unit"] == "K"
    assert group["/g"].attrs["name"] == [1, 2.5, None, {"a": True}]
    assert group["text"].read() == b"some bytes"
    assert [type(item).__name__ for item in group.values()] == ["Array", "Array", "Frame"]
    assert group.get("no") is None
    with pytest.raises(KeyError):
        group["no"]
    assert bk.open(f"{path}::/g/other")[1, 1] == 1
    member = pickle.loads(pickle.dumps(group["/field"]))
    assert member[4] == 4
    assert (bk.open(path.read_bytes())["/field"][:] == np.arange(10)).all()


def test_frames(tmp_path):
    path = tmp_path / "log.b2frame"
    with bk.create(path, typesize=4) as frame:
        frame.append(np.arange(100, dtype="i4"))
        frame.attrs["of"] = "numbers"
    with bk.open(path) as frame:
        assert isinstance(frame, bk.Frame)
        assert (len(frame), frame.nbytes, frame.typesize) == (100, 400, 4)
        assert np.frombuffer(frame[5:8], "i4").tolist() == [5, 6, 7]
        assert np.frombuffer(frame[-1], "i4").tolist() == [99]
        assert frame.read(4, 4) == np.int32(1).tobytes()
        assert frame.attrs == {"of": "numbers"}
        assert len(bk.decompress(frame.chunk(0))) == 400
        with pytest.raises(IndexError):
            frame[100]


def test_addresses(field):
    fsspec = pytest.importorskip("fsspec")
    path, x = field
    fs = fsspec.filesystem("memory")
    fs.pipe("/field.b2nd", path.read_bytes())
    assert (bk.open("/field.b2nd", fs=fs)[50:60] == x[50:60]).all()
    obstore = pytest.importorskip("obstore")
    store = obstore.store.LocalStore(str(path.parent))
    assert (bk.open("field.b2nd", store=store)[50:60] == x[50:60]).all()


def test_eight_threads_on_one_object(field):
    path, x = field
    for array in [bk.open(path), bk.open(io.BytesIO(path.read_bytes()))]:
        failures = []

        def work(seed, array=array, failures=failures):
            rng = np.random.default_rng(seed)
            for _ in range(30):
                at = int(rng.integers(0, 190))
                if not (array[at : at + 10] == x[at : at + 10]).all():
                    failures.append(at)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not failures and not any(thread.is_alive() for thread in threads)


def test_a_thousand_rounds_leave_nothing_open(field):
    path, _ = field
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    for _ in range(1000):
        bk.open(path)[0, 0]
    after = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    assert after <= before + 2


def test_a_raw_file_that_gives_little_at_once(field):
    class Slow(io.RawIOBase):
        def __init__(self, content):
            self.file = io.BytesIO(content)

        def seekable(self):
            return True

        def readable(self):
            return True

        def seek(self, at, whence=0):
            return self.file.seek(at, whence)

        def readinto(self, buffer):
            return self.file.readinto(memoryview(buffer)[:7])

    path, expected = field
    with open(path, "rb") as file:
        array = bk.open(Slow(file.read()))
    assert (array[...] == expected).all()
