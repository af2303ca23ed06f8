"""Arrays are made, changed, appended to; a failure leaves what was there."""

from __future__ import annotations

import threading

import blosckit as bk
import numpy as np
import pytest


def test_create_append_write_resize(tmp_path):
    path = tmp_path / "y.b2nd"
    with bk.create(path, (0, 100), "f4", chunks=(10, 100), codec="lz4", level=3) as array:
        array.append(np.ones((25, 100)))
        array[0:10] = 1.5
        array[3, ::2] = 7
        array.resize((30, 100))
        array.attrs["unit"] = "K"
        array.attrs["names"] = ["a", 1, None]
        assert array.shape == (30, 100)
    found = bk.open(path)
    expected = np.zeros((30, 100), "f4")
    expected[:25] = 1
    expected[:10] = 1.5
    expected[3, ::2] = 7
    assert (found[...] == expected).all()
    assert found.attrs == {"unit": "K", "names": ["a", 1, None]}
    assert "lz4" in found.cparams


def test_changes_in_place(tmp_path):
    path = tmp_path / "x.b2nd"
    x = np.arange(600).reshape(20, 30)
    bk.save(path, x)
    with bk.open(path, "r+") as array:
        array[[1, 5], 3:6] = 0
        array[array[...] > 590] = -1
        array[-1, -1] = 5
        array.append(np.zeros((2, 30)), axis=0)
        del_me = array.attrs
        del_me["x"] = 1
        assert dict(del_me) == {"x": 1}
        del del_me["x"]
        with pytest.raises(KeyError):
            del del_me["x"]
    x[[1, 5], 3:6] = 0
    x[x > 590] = -1
    x[-1, -1] = 5
    found = bk.load(path)
    assert (found[:20] == x).all() and (found[20:] == 0).all()
    assert bk.open(path).attrs == {}


def test_an_exception_discards_what_was_not_committed(tmp_path):
    path = tmp_path / "x.b2nd"
    bk.save(path, np.zeros(10))
    with pytest.raises(ZeroDivisionError), bk.open(path, "r+") as array:
        array[0] = 1
        array.commit()
        array[1] = 1
        raise ZeroDivisionError
    assert bk.load(path).tolist() == [1] + [0] * 9
    with pytest.raises(ValueError, match="closed"):
        array[2] = 1
    assert "closed" in repr(array)


def test_wrong_writes(tmp_path):
    path = tmp_path / "x.b2nd"
    with bk.create(path, (4, 5), "i4", fill=7) as array:
        with pytest.raises(ValueError):
            array[0] = np.zeros(4)
        with pytest.raises(IndexError):
            array[4] = 0
        with pytest.raises(ValueError):
            array.append(np.zeros((1, 4)))
        with pytest.raises(ValueError):
            array.append(np.zeros((1, 5)), axis=2)
        with pytest.raises(ValueError):
            array.resize((-1, 5))
        with pytest.raises(bk.ParamError):
            array.resize((4,))
        with pytest.raises(TypeError):
            array.attrs["x"] = object()
    assert (bk.load(path) == 7).all()
    with pytest.raises(FileExistsError):
        bk.create(path, 3)
    with pytest.raises(TypeError):
        bk.create(tmp_path / "o.b2nd", 3, object)
    with pytest.raises(bk.ParamError):
        bk.create(tmp_path / "o.b2nd", 3, codec="gzip")
    with pytest.raises(ValueError):
        bk.create(tmp_path / "o.b2z", 3)


@pytest.mark.parametrize("suffix", [".b2nd", ".sframe", ".blp", ".npy", ".bcolz"])
def test_save_and_load(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    x = np.arange(1000, dtype="i4").reshape(50, 20)
    bk.save(path, x)
    y = bk.load(path)
    assert y.dtype == x.dtype and (y == x).all()
    with pytest.raises(FileExistsError):
        bk.save(path, x, overwrite=False)


def test_unknown_suffix(tmp_path):
    with pytest.raises(ValueError):
        bk.save(tmp_path / "x.txt", [1])


def test_stores_are_changed(tmp_path):
    path = tmp_path / "s.b2z"
    with bk.create(path) as store:
        store["a"] = [1, 2]
        store["b"] = [3]
    with bk.open(path, "r+") as store:
        assert "a" in store and store.keys() == ["/a", "/b"]
        del store["a"]
        store["c"] = bk.open(path)["/b"]
        store.set_attr("x", 1)
        assert store.delete_attr("x") and not store.delete_attr("x")
    assert list(bk.open(path)) == ["/b", "/c"]
    with pytest.raises(ZeroDivisionError), bk.open(path, "r+") as store:
        del store["b"]
        raise ZeroDivisionError
    assert "b" in bk.open(path)


def test_frames_are_changed(tmp_path):
    path = tmp_path / "f.b2frame"
    with bk.create(path) as frame:
        frame.append(b"0123456789")
        frame.write(3, b"xyz")
        assert frame.read(2, 5) == b"2xyz6"
    with bk.open(path, "r+") as frame:
        frame.append(b"more")
    assert bk.open(path).read() == b"012xyz6789more"


def test_a_second_writer_is_told(tmp_path):
    path = tmp_path / "x.b2nd"
    with bk.create(path, (80, 1000, 100), "f8", chunks=(1, 1000, 100)) as array:
        items = np.random.default_rng(0).normal(size=(20, 1000, 100))
        found = []

        def write(at):
            try:
                array[at : at + 20] = items
            except bk.BusyError:
                found.append(at)

        threads = [threading.Thread(target=write, args=(20 * n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) < 4


@pytest.mark.parametrize("name", ["x.b2nd", "x.b2frame", "x.b2z"])
def test_what_fails_leaves_what_was_there(tmp_path, name):
    path = tmp_path / name
    shape = (3,) if name == "x.b2nd" else None
    bad = {"codec": "snappy"} if shape else {}

    def make(**options):
        return bk.create(path, shape, "i4" if shape else None, overwrite=True, **options)

    for before in [None, b"something else"]:
        if before is not None:
            path.write_bytes(before)
        with pytest.raises(ZeroDivisionError), make() as made:
            if shape:
                made[0] = 1
            raise ZeroDivisionError
        if bad:
            with pytest.raises(bk.BloscError):
                make(**bad)
        left = {found.name: found.read_bytes() for found in tmp_path.iterdir()}
        assert left == ({} if before is None else {name: before})
    make().close()
    assert [found.name for found in tmp_path.iterdir()] == [name]
    assert bk.verify(path)


def test_a_new_array_is_read_changed_and_committed_again(tmp_path):
    path = tmp_path / "x.b2nd"
    with bk.create(path, (4,), "i4") as made:
        made[1] = 7
        assert not path.exists()
        assert made[1] == 7 and path.exists()
        made[2] = 8
        made.append([9])
        made.attrs["unit"] = "K"
    assert bk.load(path).tolist() == [0, 7, 8, 0, 9]
    with pytest.raises(FileExistsError):
        bk.create(path, (4,), "i4")
    with pytest.raises(bk.BloscError, match="chunks"):
        bk.create(tmp_path / "huge.b2nd", 2**62, "u1")
    assert not (tmp_path / "huge.b2nd").exists()


def test_attributes_keep_their_kinds(tmp_path):
    attrs = {"nan": float("nan"), "inf": -np.inf, "bytes": b"\0\xff", "pair": (1, 2), "z": 1 + 2j}
    attrs |= {"map": {1: "a", None: [True]}, "text": "K", "list": [1, 2.5]}
    for name, shape in [("x.b2nd", (3,)), ("x.b2frame", None)]:
        with bk.create(tmp_path / name, shape, "i4" if shape else None) as made:
            for key, value in attrs.items():
                made.attrs[key] = value
        found = bk.open(tmp_path / name).attrs
        assert np.isnan(found.pop("nan"))
        assert found == {key: value for key, value in attrs.items() if key != "nan"}
