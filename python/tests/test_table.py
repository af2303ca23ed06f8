"""Tables: columns, nulls, text, streams of Arrow."""

from __future__ import annotations

import datetime
import subprocess
import sys

import blosckit as bk
import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")


@pytest.fixture
def data():
    n = 1000
    return pa.table(
        {
            "day": pa.array(np.arange(n) % 7, pa.int32()),
            "price": pa.array([None if k % 10 == 3 else k / 4 for k in range(n)], pa.float64()),
            "count": pa.array([None if k % 10 == 4 else k for k in range(n)], pa.int64()),
            "name": pa.array([None if k % 10 == 5 else f"naïve {k}" for k in range(n)]),
            "when": pa.array(
                [datetime.datetime(2026, 1, 1) + datetime.timedelta(hours=k) for k in range(n)],
                pa.timestamp("us"),
            ),
            "list": pa.array([[k, k + 1] for k in range(n)], pa.list_(pa.int64())),
        }
    )


@pytest.fixture
def path(tmp_path, data):
    path = tmp_path / "run.b2z"
    with bk.create(path) as store:
        store["/trades"] = data
    return path


@pytest.fixture
def table(path):
    return bk.open(f"{path}::/trades")


def test_columns(table, data):
    assert table.columns == data.column_names and len(table) == 1000
    assert "day" in table and list(table) == table.columns
    assert table["day"][5:8].tolist() == [5, 6, 0]
    assert table["day"][-1] == 999 % 7
    assert table["day"][[3, 1]].tolist() == [3, 1]
    assert table["day"][::100].tolist() == [k % 7 for k in range(0, 1000, 100)]
    assert table["when"][1] == np.datetime64("2026-01-01T01", "us")
    assert table["list"][2] == [2, 3]
    assert [field.kind for field in table.schema][:2] == ["fixed", "fixed"]
    with pytest.raises(KeyError):
        table["none"]
    with pytest.raises(IndexError):
        table["day"][1000]


def test_nulls(table):
    assert np.isnan(table["price"][3]) and table["price"][4] == 1.0
    masked = table["price"].read(slice(0, 10), masked=True)
    assert masked.mask.tolist() == [k == 3 for k in range(10)]
    assert table["count"].read(slice(0, 10), masked=True).mask.tolist() == [
        k == 4 for k in range(10)
    ]
    names = table["name"][:10]
    assert names[5] is None and names[6] == "naïve 6"
    assert table["name"].read(slice(0, 10), masked=True).mask[5]
    assert not table["day"].read(masked=True).mask.any()


def test_conditions(table):
    rows = table.rows_where("price > 10 and day < 2")
    price, day = table["price"][:], table["day"][:]
    assert rows.tolist() == np.flatnonzero((price > 10) & (day < 2)).tolist()
    with pytest.raises(bk.ParamError):
        table.rows_where("no_such > 1")
    with pytest.raises(bk.ParamError):
        table.rows_where("day >")


def test_streams(table, data):
    assert pa.table(table).to_pydict() == data.to_pydict()
    part = table.scan(["name", "day"], rows=slice(10, 20), batch_rows=3)
    assert pa.table(part).to_pydict() == data.slice(10, 10).select(["name", "day"]).to_pydict()
    found = pa.table(table.scan(["day", "price"], where="price > 10 and day < 2", batch_rows=64))
    rows = table.rows_where("price > 10 and day < 2")
    assert found.to_pydict() == data.select(["day", "price"]).take(rows).to_pydict()
    none = pa.table(table.scan(["day"], where="day > 100"))
    assert none.num_rows == 0 and none.column_names == ["day"]
    assert len(pa.table(table.scan(batch_rows=100))["day"].chunks) == 10
    for bad in [{"columns": ["none"]}, {"rows": slice(0, 10, 2)}, {"batch_rows": 0}]:
        with pytest.raises((KeyError, ValueError)):
            table.scan(**bad)
    with pytest.raises(bk.ParamError):
        pa.table(table.scan(where="none > 1"))


def test_polars_takes_it(table, data):
    pl = pytest.importorskip("polars")
    expected = pl.from_arrow(data)
    assert pl.DataFrame(table).equals(expected, null_equal=True)
    scan = table.scan(["name", "when", "price"], where="price > 10 and day < 2", batch_rows=64)
    chosen = expected.filter((pl.col("price") > 10) & (pl.col("day") < 2))
    # A stream begins anew each time.
    for _ in range(2):
        assert pl.DataFrame(scan).equals(chosen.select(["name", "when", "price"]))
    assert pl.DataFrame(scan).schema["when"] == pl.Datetime("us")


def test_pandas_takes_it(table, data):
    pd = pytest.importorskip("pandas")
    expected = data.drop_columns("list").to_pandas()
    names = [name for name in table.columns if name != "list"]
    frame = pd.DataFrame.from_arrow(table.scan(names))
    assert frame["price"].isna().tolist() == expected["price"].isna().tolist()
    assert frame["price"].dropna().tolist() == expected["price"].dropna().tolist()
    assert frame["when"].tolist() == expected["when"].tolist()
    assert frame["name"].dropna().tolist() == expected["name"].dropna().tolist()
    assert frame["count"].isna().sum() == 100
    assert pd.DataFrame({"day": table["day"][:]})["day"].sum() == expected["day"].sum()


def test_duckdb_takes_it(table, data):
    duckdb = pytest.importorskip("duckdb")
    query = "select day, count(*), sum(price), max(name) from {} group by day order by day"
    scan = table.scan(["day", "price", "name"])
    found, expected = duckdb.sql(query.format("scan")), duckdb.sql(query.format("data"))
    assert found.fetchall() == expected.fetchall()
    part = table.scan(["day"], where="price > 10 and day < 2")
    rows = len(table.rows_where("price > 10 and day < 2"))
    assert duckdb.sql("select count(*) from part").fetchall() == [(rows,)]


def test_frames_of_other_programs_are_tables(tmp_path, data):
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    duckdb = pytest.importorskip("duckdb")
    plain = data.select(["day", "name", "when"])
    sources = {
        "pyarrow": plain,
        "batch": plain.to_batches()[0],
        "reader": plain.to_reader(),
        "polars": pl.from_arrow(plain),
        "pandas": plain.to_pandas(),
        "duckdb": duckdb.sql("select * from plain"),
    }
    path = tmp_path / "s.b2z"
    with bk.create(path) as store:
        for name, source in sources.items():
            store[name] = source
    group = bk.open(path)
    for name in sources:
        found = pa.table(group[name])
        assert found["day"].to_pylist() == plain["day"].to_pylist(), name
        assert found["name"].to_pylist() == plain["name"].to_pylist(), name
        assert found["when"].to_pylist() == plain["when"].to_pylist(), name


def test_no_pyarrow_is_needed(path):
    code = f"""
import sys
sys.modules["pyarrow"] = None
import blosckit as bk
capsule = bk.open({str(path)!r})["/trades"].scan(["day"]).__arrow_c_stream__()
print(type(capsule).__name__)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "PyCapsule", done.stderr


def test_rows_are_appended_and_frames_of_polars_are_tables(tmp_path, path, data):
    with bk.open(path, "r+") as store:
        assert store.append("/trades", data.slice(0, 5)) == 5
    assert len(bk.open(path)["/trades"]) == 1005
    pl = pytest.importorskip("polars")
    with bk.create(tmp_path / "p.b2z") as store:
        store["t"] = pl.DataFrame({"x": [1, None, 3], "y": ["a", "b", None]})
    table = bk.open(tmp_path / "p.b2z")["t"]
    assert table["y"][:].tolist() == ["a", "b", None]
    assert table["x"].read(masked=True).mask.tolist() == [False, True, False]


def test_what_raises_in_a_stream_ends_the_write(tmp_path, data):
    def batches():
        yield from data.to_batches()
        raise ZeroDivisionError("of the stream")

    reader = pa.RecordBatchReader.from_batches(data.schema, batches())
    with pytest.raises(bk.BloscError), bk.create(tmp_path / "x.b2z") as store:
        store["t"] = reader
    assert not (tmp_path / "x.b2z").exists()
    with pytest.raises(TypeError), bk.create(tmp_path / "y.b2z") as store:
        store["t"] = object()
