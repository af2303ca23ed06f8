"""Prices as zipline keeps them: one table of daily bars, a table of minutes for each share."""

from __future__ import annotations

import json

import blosckit.bcolz as bcolz
import numpy as np
import pytest

FIELDS = ["open", "high", "low", "close", "volume", "day", "id"]
MINUTE_FIELDS = FIELDS[:5]


def prices(share, ndays):
    rng = np.random.default_rng(share)
    table = {name: rng.integers(1000, 100_000, ndays).astype("u4") for name in FIELDS[:5]}
    table["day"] = (np.arange(ndays) * 86_400 + 1_600_000_000).astype("u4")
    table["id"] = np.full(ndays, share, "u4")
    return table


def test_daily_bars_are_written_and_read(tmp_path):
    # The writer collects columns in memory, share after share, and makes the table at the end.
    columns = {name: bcolz.carray(np.array([], dtype="uint32")) for name in FIELDS}
    first_row, last_row, total = {}, {}, 0
    shares = {share: prices(share, 50 + share) for share in (1, 2, 5)}
    for share, table in shares.items():
        for name in FIELDS:
            columns[name].append(table[name])
        first_row[str(share)], total = total, total + len(table["day"])
        last_row[str(share)] = np.int64(total - 1)
    path = tmp_path / "daily_equities.bcolz"
    written = bcolz.ctable(
        columns=[columns[name] for name in FIELDS], names=FIELDS, rootdir=str(path), mode="w"
    )
    written.attrs["first_row"] = first_row
    written.attrs["last_row"] = last_row
    written.attrs["calendar_name"] = "NYSE"
    written.flush()
    assert len(written) == total == written.size

    # The reader opens it, and slices columns by the rows of a share.
    table = bcolz.ctable(rootdir=str(path), mode="r")
    assert table.attrs.attrs["calendar_name"] == "NYSE" and "calendar" not in table.attrs.attrs
    first = {int(share): row for share, row in table.attrs["first_row"].items()}
    last = {int(share): row for share, row in table.attrs["last_row"].items()}
    for share, expected in shares.items():
        for name in ["close", "volume"]:
            column = table[name]
            assert isinstance(column, bcolz.carray) and column.dtype == np.uint32
            assert (column[first[share] : last[share] + 1] == expected[name]).all()
        assert table["close"][first[share] + 3] == expected["close"][3]
    assert (table["id"][:] == np.repeat([1, 2, 5], [51, 52, 55])).all()
    with pytest.raises(OSError):
        table.attrs["calendar_name"] = "other"
    # The file with its length is read by the minute reader.
    assert json.loads((path / "close" / "meta" / "sizes").read_text())["shape"] == [total]


def test_minute_bars_are_filled_up_appended_and_cut(tmp_path):
    path = tmp_path / "00" / "01" / "000001.bcolz"
    path.parent.mkdir(parents=True)
    empty = np.empty(0, np.uint32)
    bcolz.ctable(
        rootdir=str(path),
        columns=[empty] * 5,
        names=MINUTE_FIELDS,
        expectedlen=390 * 252 * 15,
        mode="w",
    ).flush()
    table = bcolz.ctable(rootdir=str(path), mode="a")
    table.append([np.zeros(390 - len(table) % 390, np.uint32)] * 5)
    bars = np.random.default_rng(0).integers(1, 1000, (5, 390)).astype("u4")
    table.append(list(bars))
    table.flush()
    close = bcolz.carray(rootdir=str(path / "close"), mode="r")
    assert len(close) == 780 and close[389] == 0 and (close[390:] == bars[3]).all()
    assert np.flatnonzero(close[:]).tolist() == list(range(390, 780))
    with pytest.raises(IndexError):
        close[780]
    table = bcolz.ctable(rootdir=str(path), mode="a")
    table.resize(390)
    assert bcolz.ctable(rootdir=str(path), mode="r").size == 390
    table.resize(400)
    assert bcolz.carray(rootdir=str(path / "open"), mode="r")[390:].tolist() == [0] * 10


def test_frames_of_pandas(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"day": np.arange(5, dtype="u4"), "name": list("abcde")})
    table = bcolz.ctable.fromdataframe(frame, rootdir=tmp_path / "t")
    assert table.names == ["day", "name"] and table["name"][2] == "c"
    assert table.todataframe()["day"].tolist() == frame["day"].tolist()
