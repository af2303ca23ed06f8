"""Appends to frames with python-blosc2, one after the other, for `cargo xtask contend`.

Each line of standard input names a frame and a file with the bytes of one chunk, separated by a
tab. The answer is a line: `ok`, or what went wrong. The process stays, as starting Python takes far
longer than an append.
"""

import sys

import blosc2


def append(frame, record):
    with open(record, "rb") as file:
        data = file.read()
    schunk = blosc2.open(frame, mode="a")
    schunk.append_data(data)


for line in sys.stdin:
    try:
        append(*line.rstrip("\n").split("\t"))
        answer = "ok"
    except Exception as error:  # noqa: BLE001: whatever it is, the trial reports it
        answer = f"python-blosc2: {type(error).__name__}: {error}".replace("\n", " ")
    print(answer, flush=True)
