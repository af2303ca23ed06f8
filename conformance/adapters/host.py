#!/usr/bin/env python3
"""Runs an adapter: `host.py MODULE ROOT SECONDS MIB`, cases as lines of JSON on standard input, results on standard output.

The host imports the adapter once. Each case has a process of its own, a copy of the host, with limits of time and memory.
"""

import hashlib
import importlib
import json
import os
import resource
import select
import signal
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path = [path for path in sys.path if os.path.abspath(path) != os.path.dirname(os.path.abspath(__file__))]


def main():
    module, root, seconds, mib = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    adapter = importlib.import_module(f"adapters.{module}")
    print(json.dumps({"name": adapter.NAME, "version": adapter.version(), "formats": sorted(adapter.FORMATS)}), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(run(adapter, json.loads(line), root, seconds, mib)), file=answers, flush=True)


def run(adapter, case, root, seconds, mib):
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        inside(adapter, case, os.path.join(root, case["file"]), sink, seconds, mib)
    os.close(sink)
    text, end = b"", time.monotonic() + seconds
    while True:
        ready, _, _ = select.select([source], [], [], max(0, end - time.monotonic()))
        part = os.read(source, 65536) if ready else b""
        text += part
        if not part:
            break
    os.close(source)
    if not ready:
        os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if not ready:
        return {"outcome": "hang"}
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return {"outcome": "crash", "detail": signal.Signals(number).name}
    if not text:
        return {"outcome": "crash", "detail": f"exit code {os.WEXITSTATUS(status)} without an answer"}
    return json.loads(text)


def inside(adapter, case, path, sink, seconds, mib):
    """The child: never returns."""
    os.setpgid(0, 0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    limit = virtual() + (mib << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (mib << 20, mib << 20))
    try:
        result = {"members": {name: describe(content) for name, content in adapter.read(case, path).items()}}
    except MemoryError:
        result = {"outcome": "memory"}
    except BaseException as error:  # noqa: B902  (any exception of a library is its refusal)
        unsupported = type(error).__name__ == "Unsupported" or isinstance(error, ImportError)
        result = {"outcome": "unsupported"} if unsupported else {
            "outcome": "error", "detail": f"{type(error).__name__}: {error}"[:200], "classes": getattr(error, "classes", None)}
    os.write(sink, json.dumps(result).encode())
    os._exit(0)


def virtual():
    """Bytes of address space in use."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 4 << 30


def describe(content):
    if isinstance(content, list):
        lines = "".join(json.dumps(row, sort_keys=True, separators=(",", ":"), default=repr) + "\n" for row in content)
        return {"values": {"count": len(content), "sha256": hashlib.sha256(lines.encode()).hexdigest()}}
    return {"nbytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


if __name__ == "__main__":
    main()
