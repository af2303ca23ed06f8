"""The functions of Bloscpack and bcolz, by `blosckit.bloscpack` and `blosckit.bcolz`."""

from __future__ import annotations

import os

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


def test_examples_of_the_documents_of_bloscpack(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bp = bloscpack
    a = np.linspace(0, 100, 200_000)
    bp.pack_ndarray_to_file(a, "a.blp")
    assert (bp.unpack_ndarray_from_file("a.blp") == a).all()
    assert (bp.unpack_ndarray_from_bytes(bp.pack_ndarray_to_bytes(a)) == a).all()
    b = a.tobytes()
    bp.pack_bytes_to_file(b, "b.blp", metadata={"dtype": "float64", "shape": [200_000]})
    assert bp.unpack_bytes_from_file("b.blp") == (b, {"dtype": "float64", "shape": [200_000]})
    for checksum in ["None", "adler32", "crc32", "md5", "sha1", "sha256", "sha512"]:
        args = bp.BloscpackArgs(offsets=False, checksum=checksum, max_app_chunks=lambda n: 10 * n)
        packed = bp.pack_bytes_to_bytes(b, "512K", {"n": 1}, bp.BloscArgs(4, 9, 2, "lz4"), args)
        assert bp.unpack_bytes_from_bytes(packed) == (b, {"n": 1})
    metadata_args = bp.MetadataArgs(magic_format="JSON", meta_level=9)
    packed = bp.pack_bytes_to_bytes(b, metadata=[1], metadata_args=metadata_args)
    assert bp.unpack_bytes_from_bytes(packed)[1] == [1]
    old = {"typesize": 8, "clevel": 7, "shuffle": True, "cname": "blosclz"}
    assert bp.unpack_bytes_from_bytes(bp.pack_bytes_to_bytes(b, blosc_args=old))[0] == b
    for wrong in [{"cname": "gzip"}, {"clevel": 12}]:
        with pytest.raises(ValueError):
            bp.pack_bytes_to_bytes(b, blosc_args=bp.BloscArgs(**wrong))
    with pytest.raises(ValueError):
        bp.pack_bytes_to_bytes(b, bloscpack_args=bp.BloscpackArgs(checksum="crc64"))


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
    assert [row.a for row in table.iter(1, 900, 300, limit=2, skip=1)] == [301, 601]
    assert [row.a for row in table.where("a >= 10", limit=2, skip=3)] == [13, 14]
    assert table["a < 2"]["b"].tolist() == [0, 0.25]
    assert table.fetchwhere(table["a"][:] > 990, limit=1).tolist() == [(991, 247.75)]
    table.append([[n], [1.5]])
    assert len(bcolz.open(root)) == n + 1
    pytest.importorskip("pandas")
    assert table.todataframe()["b"].iloc[-1] == 1.5
    assert [found.rootdir for found in bcolz.walk(tmp_path)] == [str(root)]
    with pytest.raises(KeyError):
        table["none"]


def test_bcolz_in_memory_and_other_documented_arguments(tmp_path):
    array = bcolz.carray(range(1000), bcolz.cparams(clevel=9, cname="zstd"), dtype="i4")
    assert array.rootdir is None and array.dtype == np.int32 and array.ndim == 1
    folder = array._path
    array.append([1, 2])
    assert len(array) == array.size == 1002 and np.asarray(array)[-2:].tolist() == [1, 2]
    assert list(array.iter(10, step=2, limit=2, skip=1)) == [12, 14]
    assert array.sum(dtype="f8") == 499_503.0
    records = np.array([(1, 2.5), (3, 4.5)], dtype=[("n", "i8"), ("x", "f8")])
    table = bcolz.ctable(records)
    assert table.names == ["n", "x"] and table.rootdir is None
    table.append((5, 6.5))
    table.append(records)
    table.append(table)
    assert table["n"][:].tolist() == [1, 3, 5, 1, 3] * 2
    column = table["x"]
    del table
    assert column[1] == 4.5
    del array
    assert not os.path.exists(folder)
    for wrong in [{"clevel": 10}, {"cname": "gzip"}, {"shuffle": 3}]:
        with pytest.raises(bk.ParamError):
            bcolz.carray([1], bcolz.cparams(**wrong))
    with pytest.raises(ValueError):
        bcolz.carray()
    with pytest.raises(ValueError):
        bcolz.ctable([[1], [1, 2]])
    filled = bcolz.carray([1.5], dflt=7.5, chunklen=16)
    filled.resize(3)
    assert filled[:].tolist() == [1.5, 7.5, 7.5] and filled.chunklen == 16


def test_bcolz_modes(tmp_path):
    root, other = tmp_path / "a", tmp_path / "other"
    bcolz.carray([1, 2, 3], rootdir=root)
    with pytest.raises(FileExistsError):
        bcolz.carray([4], rootdir=root)
    assert bcolz.carray([4], rootdir=root, mode="w")[:].tolist() == [4]
    assert len(bcolz.carray(rootdir=root, mode="w")) == 0
    other.mkdir()
    (other / "precious").write_text("data")
    with pytest.raises((OSError, bk.BloscError)):
        bcolz.carray([4], rootdir=other, mode="w")
    assert (other / "precious").exists()
    with pytest.raises(OSError):
        bcolz.carray([4], rootdir=tmp_path / "new", mode="r")
    with pytest.raises(ValueError):
        bcolz.carray([4], rootdir=tmp_path / "new", mode="x")
