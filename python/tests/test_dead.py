"""The functions of Bloscpack and bcolz, by `blosckit.bloscpack` and `blosckit.bcolz`."""

from __future__ import annotations

import blosckit as bk
import blosckit.bcolz as bcolz
import blosckit.bloscpack as bloscpack
import numpy as np
import pytest


def test_bloscpack_bytes(tmp_path):
    data = bytes(range(256)) * 5000
    packed = bloscpack.pack_bytes_to_bytes(data, metadata={"of": "bytes"}, chunk_size="100K")
    assert bloscpack.unpack_bytes_from_bytes(packed) == (data, {"of": "bytes"})
    path, other = tmp_path / "x.blp", tmp_path / "x"
    bloscpack.pack_bytes_to_file(data, path)
    assert bloscpack.unpack_bytes_from_file(path) == (data, None)
    assert bloscpack.unpack_file_from_file(path, other) is None
    assert other.read_bytes() == data
    bloscpack.pack_file_to_file(other, tmp_path / "y.blp", metadata=[1])
    assert bloscpack.unpack_file_from_file(tmp_path / "y.blp", other) == [1]
    with bk.open(path) as found:
        assert found.format == "blp" and found.read(0, 256) == bytes(range(256))


@pytest.mark.parametrize("dtype", ["i4", "f8", "M8[s]", [("a", "<i4"), ("b", "S3")]])
def test_bloscpack_arrays(tmp_path, dtype):
    x = np.zeros((30, 20), dtype)
    args = bloscpack.BloscArgs(clevel=9, shuffle=False, cname="zlib")
    packed = bloscpack.pack_ndarray_to_bytes(x, blosc_args=args)
    y = bloscpack.unpack_ndarray_from_bytes(packed)
    assert y.dtype == x.dtype and y.shape == x.shape
    bloscpack.pack_ndarray_to_file(x, tmp_path / "x.blp", chunk_size="1.0K")
    assert (bloscpack.unpack_ndarray_from_file(tmp_path / "x.blp") == x).all()
    with pytest.raises(bk.CorruptError):
        bloscpack.unpack_bytes_from_bytes(packed[:-3])


def test_bcolz_arrays(tmp_path):
    root = tmp_path / "a"
    array = bcolz.carray(np.arange(100_000), rootdir=root, mode="w")
    assert len(array) == 100_000 and array.dtype == np.int64 and array.shape == (100_000,)
    assert array[5] == 5 and array[-3:].tolist() == [99_997, 99_998, 99_999]
    array.append([1, 2, 3])
    array.attrs["unit"] = "K"
    array.flush()
    again = bcolz.open(root, mode="r")
    assert len(again) == 100_003 and again.attrs["unit"] == "K"
    assert again.sum() == sum(range(100_000)) + 6
    assert list(again.iter(0, 6, 2)) == [0, 2, 4]
    with pytest.raises(OSError):
        again.append([1])
    array.trim(3)
    array.resize(10)
    assert bcolz.open(root)[:].tolist() == list(range(10))


def test_bcolz_tables(tmp_path):
    root = tmp_path / "t"
    n = 1000
    table = bcolz.ctable([np.arange(n), np.arange(n) / 4], names=["a", "b"], rootdir=root, mode="w")
    assert table.names == ["a", "b"] and len(table) == n and table.dtype.names == ("a", "b")
    assert table["a"][:3].tolist() == [0, 1, 2] and table.cols["b"][4] == 1.0
    assert table[3]["b"] == 0.75 and table[3:5]["a"].tolist() == [3, 4]
    rows = list(table.where("(a > 5) & (b < 2)"))
    assert [row.a for row in rows] == [6, 7]
    assert table.fetchwhere("a > 997")["a"].tolist() == [998, 999]
    assert [len(block) for block in table.whereblocks("a >= 0", blen=300)] == [300, 300, 300, 100]
    assert [row.b for row in table.iter(0, 2, outcols=["b"])] == [0, 0.25]
    table.append([[n], [1.5]])
    assert len(bcolz.open(root)) == n + 1
    pytest.importorskip("pandas")
    assert table.todataframe()["b"].iloc[-1] == 1.5
    assert [found.rootdir for found in bcolz.walk(tmp_path)] == [str(root)]
    with pytest.raises(KeyError):
        table["none"]
