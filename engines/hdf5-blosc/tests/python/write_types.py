"""Writes number_types.h5 to a folder: python write_types.py FOLDER (h5py 3.16).

`numbers/NAME` has items of a number type that NumPy does not know, or knows; their bits are edges and random ones, also where
the type says that nothing is there. `values/NAME` has the same numbers as HDF5 converts them. `refused/NAME` has types of
which no number is one of NumPy's.
"""

import os
import sys

import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t

rng = np.random.default_rng(7)
NITEMS = 96


def integer(base, precision, offset, size=None):
    """A copy of `base` with other bits."""
    tid = base.copy()
    if size:
        tid.set_size(size)
    tid.set_precision(precision)
    tid.set_offset(offset)
    return tid


def floating(base, size, parts, bias, offset=0, precision=None):
    """A float with the places and sizes of sign, exponent and mantissa."""
    tid = base.copy()
    # The fields stay within the precision, and that within the size, at each step.
    if size > tid.get_size():
        tid.set_size(size)
        tid.set_precision(8 * size)
    tid.set_fields(*parts)
    tid.set_precision(precision or 8 * size)
    tid.set_size(size)
    tid.set_offset(offset)
    tid.set_ebias(bias)
    return tid


LE, BE = h5t.IEEE_F32LE, h5t.IEEE_F32BE
BFLOAT16 = (15, 7, 8, 0, 7)
NUMBERS = {
    "i1": h5t.STD_I8LE,
    "i2_be": h5t.STD_I16BE,
    "u4_be": h5t.STD_U32BE,
    "i8": h5t.STD_I64LE,
    "i12": integer(h5t.STD_I16LE, 12, 0),
    "i12_be": integer(h5t.STD_I16BE, 12, 0),
    "u12_at_bit_4": integer(h5t.STD_U16LE, 12, 4),
    "i14_at_bit_1_be": integer(h5t.STD_I16BE, 14, 1),
    "u4_in_a_byte": integer(h5t.STD_U8LE, 4, 2),
    "i24": integer(h5t.STD_I32LE, 24, 0, 3),
    "u40_be": integer(h5t.STD_U64BE, 40, 0, 5),
    "i17_of_24": integer(h5t.STD_I32LE, 17, 5, 3),
    "i61": integer(h5t.STD_I64LE, 61, 2),
    "b2": h5t.STD_B16LE,
    "f2": h5t.IEEE_F16LE,
    "f2_be": h5t.IEEE_F16BE,
    "f4_be": h5t.IEEE_F32BE,
    "f8": h5t.IEEE_F64LE,
    "bfloat16": floating(LE, 2, BFLOAT16, 127),
    "bfloat16_be": floating(BE, 2, BFLOAT16, 127),
    "tf32": floating(LE, 4, (18, 10, 8, 0, 10), 127, precision=19),
    "f24": floating(LE, 3, (23, 16, 7, 0, 16), 63),
    "half_of_another_bias": floating(LE, 2, (15, 10, 5, 0, 10), 20),
    "single_of_another_bias": floating(LE, 4, (31, 23, 8, 0, 23), 200),
    "f6_be": floating(h5t.IEEE_F64BE, 6, (47, 37, 10, 0, 37), 511),
    "wide_exponent": floating(LE, 4, (31, 21, 10, 0, 21), 511),
    "f16_at_bit_8": floating(LE, 4, (15, 10, 5, 0, 10), 15, offset=8, precision=16),
}


def write(file, name, tid, items):
    space = h5s.create_simple((len(items),))
    lcpl = h5p.create(h5p.LINK_CREATE)
    lcpl.set_create_intermediate_group(True)
    dset = h5d.create(file.id, name.encode(), tid, space, lcpl=lcpl)
    dset.write(h5s.ALL, h5s.ALL, items, mtype=tid)
    return dset


def bits(size):
    """Edges, then random bytes."""
    items = rng.integers(0, 256, size=(NITEMS, size), dtype=np.uint8)
    items[0], items[1] = 0, 255
    for n in range(8 * size):
        items[2 + n % 40] = np.frombuffer(int(1 << n).to_bytes(size, "little"), np.uint8)
    return np.ascontiguousarray(items).view(f"V{size}").reshape(-1)


with h5py.File(os.path.join(sys.argv[1], "number_types.h5"), "w") as file:
    for name, tid in NUMBERS.items():
        dset = write(file, f"numbers/{name}", tid, bits(tid.get_size()))
        kind = tid.get_class()
        if kind == h5t.FLOAT:
            dtype, native = "<f8", h5t.IEEE_F64LE
        elif kind == h5t.BITFIELD:
            dtype, native = "<u8", h5t.STD_B64LE
        elif tid.get_sign() == h5t.SGN_2:
            dtype, native = "<i8", h5t.STD_I64LE
        else:
            dtype, native = "<u8", h5t.STD_U64LE
        values = np.zeros(NITEMS, dtype)
        dset.read(h5s.ALL, h5s.ALL, values, mtype=native)
        file.create_dataset(f"values/{name}", data=values)

    # Parts of items.
    record = h5t.create(h5t.COMPOUND, 12)
    record.insert(b"plain", 0, h5t.STD_I32LE)
    record.insert(b"i12", 4, NUMBERS["i12"])
    record.insert(b"pair", 6, h5t.array_create(NUMBERS["u12_at_bit_4"], (2,)))
    write(file, "records", record, bits(12))
    level = h5t.enum_create(NUMBERS["i12"])
    level.enum_insert(b"LOW", 1)
    level.enum_insert(b"HIGH", 2)
    write(file, "level", level, bits(2))
    swapped = h5t.enum_create(h5t.STD_I8LE)
    swapped.enum_insert(b"FALSE", 1)
    swapped.enum_insert(b"TRUE", 0)
    write(file, "swapped", swapped, np.array([0, 1], "i1"))

    with_bfloat16 = h5t.create(h5t.COMPOUND, 4)
    with_bfloat16.insert(b"x", 0, NUMBERS["bfloat16"])
    with_bfloat16.insert(b"y", 2, h5t.STD_I16LE)
    with_reference = h5t.create(h5t.COMPOUND, 8)
    with_reference.insert(b"to", 0, h5t.STD_REF_OBJ)
    vax = LE.copy()
    vax.set_order(h5t.ORDER_VAX)
    without_first_bit = LE.copy()
    without_first_bit.set_norm(h5t.NORM_NONE)
    refused = {
        "binary128": floating(h5t.IEEE_F64LE, 16, (127, 112, 15, 0, 112), 16383),
        "binary128_be": floating(h5t.IEEE_F64BE, 16, (127, 112, 15, 0, 112), 16383),
        "x87": floating(h5t.IEEE_F64LE, 16, (79, 64, 15, 0, 64), 16383, precision=80),
        "wide_mantissa": floating(h5t.IEEE_F64LE, 8, (63, 55, 8, 0, 55), 127),
        "far_bias": floating(h5t.IEEE_F64LE, 8, (63, 52, 11, 0, 52), 2000),
        "float8_e4m3": floating(LE, 1, (7, 3, 4, 0, 3), 7),
        "float8_e5m2": floating(LE, 1, (7, 2, 5, 0, 2), 15),
        "vax": vax,
        "without_first_bit": without_first_bit,
        "i128": integer(h5t.STD_I64LE, 128, 0, 16),
        "time": h5t.UNIX_D32LE,
        "reference": h5t.STD_REF_OBJ,
        "array": h5t.array_create(h5t.STD_I32LE, (3,)),
        "with_bfloat16": with_bfloat16,
        "with_reference": with_reference,
    }
    for name, tid in refused.items():
        write(file, f"refused/{name}", tid, np.zeros(2, f"V{tid.get_size()}"))
    file.create_dataset("refused/text", data=["of", "any", "length"], dtype=h5py.string_dtype())
    when = np.array(["2020-01-02", "2020-01-03"], "M8[us]")
    file.create_dataset("when", data=when.astype(h5py.opaque_dtype(when.dtype)))
