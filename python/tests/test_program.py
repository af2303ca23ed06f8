"""`python -m blosckit` and `blosckit` are the program `b2` of the wheel `blosckit-cli`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

import blosckit as bk
import numpy as np
import pytest
from blosckit import __main__ as program

MODULE = [sys.executable, "-m", "blosckit"]
SCRIPT = [str(Path(sys.executable).with_name("blosckit"))]


@pytest.fixture
def b2():
    path = program._program()
    if path is None:
        pytest.skip("blosckit-cli is not installed")
    return [path]


def run(command, *words, **options):
    return subprocess.run([*command, *words], capture_output=True, timeout=60, **options)


@pytest.mark.parametrize("command", [MODULE, SCRIPT], ids=["module", "script"])
def test_the_program_runs(command, b2, tmp_path):
    path = tmp_path / "x.b2nd"
    bk.save(path, np.arange(1000))
    for words in [["--version"], ["info", str(path)], ["verify", str(path)], ["--no-such"]]:
        expected, found = run(b2, *words), run(command, *words)
        assert found.returncode == expected.returncode
        assert (found.stdout, found.stderr) == (expected.stdout, expected.stderr)
    assert run(command, "--version").stdout.startswith(b"b2 ")


@pytest.mark.parametrize("command", [MODULE, SCRIPT], ids=["module", "script"])
def test_exit_codes_and_streams_are_those_of_the_program(command, b2, tmp_path):
    data = bytes(range(256)) * 5000
    packed = run(command, "compress", "-", input=data)
    assert packed.returncode == 0, packed.stderr
    assert bk.open(packed.stdout).read() == data
    assert run(command, "decompress", "-", input=packed.stdout).stdout == data
    damaged = bytearray(packed.stdout)
    damaged[len(damaged) // 2] ^= 0xFF
    path = tmp_path / "damaged.b2frame"
    path.write_bytes(damaged)
    codes = {
        ("verify", str(path)): 1,
        ("verify", "--no-such-option"): 2,
        ("verify", str(tmp_path / "none")): 3,
    }
    for words, code in codes.items():
        assert run(b2, *words).returncode == code
        assert run(command, *words).returncode == code


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_as_they_end_the_program(b2, number):
    codes = []
    for command in [b2, MODULE, SCRIPT]:
        child = subprocess.Popen(
            [*command, "compress", "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _wait_until_it_listens(child.pid, number)
        os.kill(child.pid, number)
        codes.append(child.wait(60))
        child.stdin.close()
    assert codes[0] != 0 and codes == [codes[0]] * 3


def _wait_until_it_listens(pid, number):
    """Until the process is the program, and has its handler; 2 seconds are enough without one."""
    folder = Path(f"/proc/{pid}")
    end = time.monotonic() + (60 if folder.exists() else 2)
    while folder.exists() and time.monotonic() < end:
        is_program = (folder / "cmdline").read_bytes().split(b"\0")[1:2] == [b"compress"]
        if is_program:
            end = min(end, time.monotonic() + 2)
            caught = re.search(r"SigCgt:\s*(\w+)", (folder / "status").read_text())
            if caught and int(caught[1], 16) >> (number - 1) & 1:
                return
        time.sleep(0.02)


def test_what_is_missing_is_said_in_one_line(monkeypatch, capsys):
    def nothing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(program.metadata, "files", nothing)
    assert program.main(["info", "x"]) == 127
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and "pip install" in err and "blosckit-cli" in err


def test_the_program_of_another_package_is_not_run(monkeypatch, capsys, tmp_path):
    other = tmp_path / "b2"
    other.write_text("#!/bin/sh\necho another\n")

    class File:
        name, size = "b2", 6_000_000

        def locate(self):
            return other

    monkeypatch.setattr(program.metadata, "files", lambda name: [File()])
    assert program.main([]) == 127
    assert "replaced" in capsys.readouterr().err
    File.size = other.stat().st_size
    assert program._program() == str(other)
