"""Appends to frames with python-blosc2, one after the other, for `cargo xtask contend`.

Each line of standard input names a frame and a file with the bytes of one chunk, separated by a
tab. A store gets a new value instead, whose key is the name of the file. The answer is a line:
`ok`, or what went wrong. The process stays, as starting Python takes far longer than an append.
"""

import pathlib
import sys

import blosc2
import numpy


def append(frame, record):
    with open(record, "rb") as file:
        data = file.read()
    if frame.endswith(".b2d"):
        with blosc2.DictStore(frame, mode="a", locking=True) as store:
            store["/" + pathlib.Path(record).stem] = numpy.frombuffer(data, dtype="<i4")
        return
    schunk = blosc2.open(frame, mode="a")
    schunk.append_data(data)


for line in sys.stdin:
    try:
        append(*line.rstrip("\n").split("\t"))
        answer = "ok"
    except Exception as error:  # noqa: BLE001: whatever it is, the trial reports it
        answer = f"python-blosc2: {type(error).__name__}: {error}".replace("\n", " ")
    print(answer, flush=True)
