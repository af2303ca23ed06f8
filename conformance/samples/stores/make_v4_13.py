"""Writes v4.13.1-lists.b2z: a table whose lists are in Arrow's form, the default of `from_parquet` in that release.

usage: python make_v4_13.py OUTPUT.b2z       with blosc2==4.13.1 and pyarrow
"""

import sys
import tempfile

import blosc2
import pyarrow as pa
import pyarrow.parquet as pq

assert blosc2.__version__ == "4.13.1"
struct = pa.struct([("a", pa.int64()), ("b", pa.string())])
table = pa.table(
    {
        "id": pa.array([1, 2, 3, 4], pa.int32()),
        "words": pa.array([["a", "bc"], [], None, ["d", None]], pa.list_(pa.string())),
        "whole": pa.array([[1, -2], [3], [], [4, None, 6]], pa.list_(pa.int16())),
        "large": pa.array([[2**64 - 1], [], [0], None], pa.list_(pa.uint64())),
        "reals": pa.array([[1.5, None], [2.5], [], None], pa.list_(pa.float32())),
        "truth": pa.array([[True, False, None], [], [True], None], pa.list_(pa.bool_())),
        "bytes": pa.array([[b"ab", b""], [], [b"c"], None], pa.list_(pa.binary())),
        "times": pa.array([[1577836800000000], None, [], [0]], pa.list_(pa.timestamp("us"))),
        "pairs": pa.array(
            [[{"a": 1, "b": "x"}], [], [{"a": None, "b": "y"}, {"a": 3, "b": None}], None], pa.list_(struct)
        ),
    }
)
with tempfile.NamedTemporaryFile(suffix=".parquet") as parquet:
    pq.write_table(table, parquet.name)
    blosc2.CTable.from_parquet(parquet.name, urlpath=sys.argv[1], mode="w").close()
