"""Compares the arrays that examples/array.rs wrote with what it should have written: python read_back.py FOLDER."""

import os
import sys

import numpy as np
import zarr

folder = sys.argv[1]
expected = (np.arange(100 * 80, dtype="<i8") ** 2 % 1000).reshape(100, 80).astype("<i4")
names = sorted(name for name in os.listdir(folder) if name.endswith(".zarr"))
for name in names:
    found = zarr.open_array(os.path.join(folder, name), mode="r")
    assert np.array_equal(found[:], expected), name
    assert np.array_equal(found[3:5, 70:], expected[3:5, 70:]), name
assert len(names) >= 12, names
print(f"{len(names)} arrays equal")
