"""The filters of docs/formats/filters.md, forward."""

IDS = {
    "none": 0, "shuffle": 1, "bitshuffle": 2, "delta": 3, "trunc_prec": 4, "ndcell": 32, "ndmean": 33,
    "bytedelta_old": 34, "bytedelta": 35, "int_trunc": 36,
}


def shuffle(block, group):
    n = len(block) // group
    planes = [block[j:n * group:group] for j in range(group)]
    return b"".join(planes) + block[n * group:]


def bitshuffle(block, typesize, version=5):
    n = len(block) // typesize
    m = n // 8 * 8 if version > 2 or n % 8 == 0 else 0
    out = bytearray()
    for j in range(typesize):
        for k in range(8):
            for i in range(0, m, 8):
                out.append(sum((block[(i + row) * typesize + j] >> k & 1) << row for row in range(8)))
    return bytes(out) + block[m * typesize:]


def delta(block, typesize, reference):
    """`reference` is the plain first block, or None in the first block itself."""
    width = typesize if typesize in (1, 2, 4, 8) else 8 if typesize % 8 == 0 else 1
    m = len(block) // width * width
    if reference is None:
        before = block[:width] and bytes(width) + block[:m - width]
    else:
        before = reference[:m]
    return bytes(a ^ b for a, b in zip(block[:m], before)) + block[m:]


def bytedelta(block, streams, old=False):
    n = len(block) // streams
    out = bytearray()
    for s in range(streams):
        for i in range(n):
            fresh = i == 0 or old and n % 16 and i == n - n % 16
            out.append((block[s * n + i] - (0 if fresh else block[s * n + i - 1])) % 256)
    return bytes(out) + block[n * streams:]


def mask(block, typesize, low):
    """Clears the `low` lowest bits of little-endian items: trunc_prec and int_trunc."""
    n, keep = len(block) // typesize, ~((1 << low) - 1)
    items = (int.from_bytes(block[i * typesize:(i + 1) * typesize], "little") for i in range(n))
    return b"".join((item & keep).to_bytes(typesize, "little") for item in items) + block[n * typesize:]


def ndcell(block, typesize, shape, side):
    """The items of all cells, cell after cell."""

    def walk(dims, low, high):
        if not dims:
            return [0]
        rest = walk(dims[1:], low[1:], high[1:])
        stride = 1
        for length in dims[1:]:
            stride *= length
        return [i * stride + r for i in range(low[0], high[0]) for r in rest]

    def grid(dims):
        if not dims:
            return [[]]
        return [[k] + r for k in range(-(-dims[0] // side)) for r in grid(dims[1:])]

    out = bytearray()
    for cell in grid(list(shape)):
        low = [k * side for k in cell]
        high = [min(k * side + side, length) for k, length in zip(cell, shape)]
        for item in walk(list(shape), low, high):
            out += block[item * typesize:(item + 1) * typesize]
    return bytes(out)


def forward(block, pipeline, typesize, reference, version=5):
    """Runs (name, meta) pairs over a block."""
    for name, meta in pipeline:
        if name == "shuffle":
            block = shuffle(block, meta or typesize)
        elif name == "bitshuffle":
            block = bitshuffle(block, typesize, version)
        elif name == "delta":
            block = delta(block, typesize, reference)
        elif name in ("bytedelta", "bytedelta_old"):
            block = bytedelta(block, meta or typesize, name == "bytedelta_old")
        elif name == "trunc_prec":
            mantissa = {4: 23, 8: 52}[typesize]
            block = mask(block, typesize, mantissa - meta if meta >= 0 else -meta)
        elif name == "int_trunc":
            block = mask(block, typesize, 8 * typesize - meta if meta >= 0 else -meta)
        elif name != "none":
            raise ValueError(name)
    return block
