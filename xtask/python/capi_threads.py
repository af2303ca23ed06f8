"""Forks, threads and closing: each many times with one library.

    capi_threads.py LIBRARY TIMES
"""

import ctypes
import os
import sys
import threading
import time

from capi_blosc import Blosc

DATA = b"".join((i // 7).to_bytes(4, "little") for i in range(300_000))
LIMIT = 1.0  # Seconds for a child.


def compress(blosc, nthreads=None):
    numbers = 5, 1, 4, DATA, len(DATA), len(DATA) + 16
    if nthreads is None:
        return blosc.compress(*numbers)[1]
    return blosc.compress_ctx(*numbers, b"lz4", 0, nthreads)[1]


def decompress(blosc, chunk):
    return blosc.decompress(chunk, len(DATA), len(DATA))[1] == DATA


def fork_while_others_work(blosc, times):
    """Four threads compress; the child of a fork compresses and decompresses within a second."""
    blosc.set_nthreads(4)
    chunk = compress(blosc)
    over = threading.Event()

    def work():
        while not over.is_set():
            compress(blosc)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    slowest = 0
    for _ in range(times):
        child = os.fork()
        if child == 0:
            start = time.process_time()
            good = decompress(blosc, chunk) and decompress(blosc, compress(blosc))
            os._exit(0 if good and time.process_time() - start < LIMIT else 1)
        slowest = max(slowest, wait(child))
    over.set()
    for thread in threads:
        thread.join()
    assert decompress(blosc, chunk)
    return f"{slowest:.2f} s the slowest"


def wait(child):
    """Waits for a child, and kills it if it hangs."""
    start = time.monotonic()
    while time.monotonic() - start < 60:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            assert status == 0, f"a child ended with {status}"
            return time.monotonic() - start
        time.sleep(0.001)
    os.kill(child, 9)
    raise AssertionError("a child hangs")


def many_threads(blosc, times):
    """Sixteen threads, half with contexts."""
    wrong = []

    def work(n):
        for _ in range(times // 16 + 1):
            chunk = compress(blosc, 1 + n % 3 if n % 2 else None)
            if not decompress(blosc, chunk):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=[n]) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong
    return ""


def close_and_load(path, times):
    close = ctypes.CDLL(None).dlclose
    close.argtypes = [ctypes.c_void_p]
    for n in range(times):
        blosc = Blosc(path)
        blosc.set_nthreads(2)
        assert decompress(blosc, compress(blosc))
        if n % 2:
            blosc.destroy()
        close(blosc.lib._handle)
    return ""


def main():
    path, times = sys.argv[1], int(sys.argv[2])
    blosc = Blosc(path)
    print("fork:", fork_while_others_work(blosc, times), flush=True)
    print("threads:", many_threads(blosc, times), flush=True)
    print("close:", close_and_load(path, times), flush=True)


if __name__ == "__main__":
    main()
