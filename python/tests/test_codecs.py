"""Codecs of numcodecs and Zarr, the back end of xarray."""

from __future__ import annotations

import pickle

import blosckit as bk
import numpy as np
import pytest


def test_numcodecs_reads_ours_and_we_read_theirs():
    theirs = pytest.importorskip("numcodecs").Blosc
    from blosckit.numcodecs import Blosc

    x = np.arange(100_000, dtype="i4")
    for cname in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]:
        for shuffle in [-1, 0, 1, 2]:
            for dtype in ["i4", "u1", "f8", "M8[s]"]:
                data = x.astype(dtype)
                ours, other = Blosc(cname, 5, shuffle), theirs(cname, 5, shuffle)
                assert ours.get_config() == other.get_config()
                mine, yours = ours.encode(data), other.encode(data)
                assert other.decode(mine) == data.tobytes() == ours.decode(yours)
                out = np.empty_like(data)
                ours.decode(yours, out=out)
                assert (out == data).all()
    part = np.frombuffer(Blosc().decode_partial(Blosc().encode(x), 10, 5), "i4")
    assert part.tolist() == [10, 11, 12, 13, 14]
    with pytest.raises(RuntimeError):
        Blosc().decode(b"no chunk at all, but some bytes")
    with pytest.raises(ValueError):
        Blosc(shuffle=3)


def test_the_registry():
    numcodecs = pytest.importorskip("numcodecs")
    from blosckit.numcodecs import Blosc, Blosc2, register

    entry = numcodecs.get_codec({"id": "blosckit.blosc2", "cname": "zstd"})
    assert isinstance(entry, Blosc2)
    x = np.arange(1000)
    assert entry.decode(entry.encode(x)) == x.tobytes()
    theirs = numcodecs.registry.codec_registry.get("blosc")
    try:
        register()
        found = numcodecs.get_codec({"id": "blosc", "cname": "zstd", "clevel": 3})
        assert isinstance(found, Blosc) and found.clevel == 3
        assert pickle.loads(pickle.dumps(found)) == found
    finally:
        if theirs is not None:
            numcodecs.register_codec(theirs, "blosc")


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8", "M8[s]"])
@pytest.mark.parametrize("shuffle", ["noshuffle", "shuffle", "bitshuffle"])
def test_zarr_3(tmp_path, dtype, shuffle):
    zarr = pytest.importorskip("zarr")
    from blosckit.zarr import BloscCodec

    x = np.arange(10_000).reshape(100, 100).astype(dtype)
    chosen = {"codecs.blosc": "blosckit.zarr.BloscCodec"}
    theirs = zarr.codecs.BloscCodec(cname="zstd", shuffle=shuffle)
    paths = [tmp_path / "ours", tmp_path / "theirs"]
    for path, codec in zip(paths, [BloscCodec(cname="zstd", shuffle=shuffle), theirs]):
        array = zarr.create_array(
            path, shape=x.shape, dtype=x.dtype, chunks=(30, 40), compressors=[codec]
        )
        array[...] = x
    with zarr.config.set(chosen):
        for path in paths:
            array = zarr.open_array(path)
            assert type(array.compressors[0]) is BloscCodec
            assert (array[...] == x).all()
    for path in paths:
        assert (zarr.open_array(path)[...] == x).all()
    texts = [(path / "zarr.json").read_text() for path in paths]
    assert texts[0] == texts[1]


def test_xarray(tmp_path):
    xr = pytest.importorskip("xarray")
    path = tmp_path / "run.b2z"
    x = np.arange(60.0).reshape(3, 4, 5)
    with bk.create(path) as store:
        store["/field"] = x
        store["/other"] = np.arange(7)
        store.set_attr("title", "a run")
    with bk.create(tmp_path / "one.b2nd", x.shape, "f8") as array:
        array[...] = x
        array.attrs["dims"] = ["t", "y", "x"]
        array.attrs["unit"] = "K"
    dataset = xr.open_dataset(path, engine="blosckit")
    assert dataset.attrs["title"] == "a run" and set(dataset) == {"field", "other"}
    assert dataset["field"].dims == ("field_dim_0", "field_dim_1", "field_dim_2")
    one = xr.open_dataset(tmp_path / "one.b2nd", engine="blosckit")["one"]
    assert one.dims == ("t", "y", "x") and one.attrs == {"unit": "K"}
    assert (one.isel(t=1, y=[3, 0], x=slice(None, None, -2)).values == x[1][[3, 0], ::-2]).all()
    assert float(one.mean()) == x.mean()
    assert (one[2].values == x[2]).all()


def test_blosc2_reads_ours_and_we_read_theirs(tmp_path):
    blosc2 = pytest.importorskip("blosc2")
    x = np.arange(10_000, dtype="f4").reshape(100, 100)
    chunk = bk.compress(x, "zstd")
    assert blosc2.decompress2(chunk) == x.tobytes()
    assert bk.decompress(blosc2.compress2(x)) == x.tobytes()
    bk.save(tmp_path / "ours.b2nd", x)
    assert (blosc2.open(str(tmp_path / "ours.b2nd"))[...] == x).all()
    theirs = blosc2.asarray(x, urlpath=str(tmp_path / "theirs.b2nd"), mode="w")
    theirs.vlmeta["unit"] = "K"
    found = bk.open(tmp_path / "theirs.b2nd")
    assert (found[...] == x).all() and found.attrs["unit"] == "K"
    assert (bk.unpack_array(theirs.to_cframe()) == x).all()
