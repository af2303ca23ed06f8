"""The program b2: CONFORMANCE_PROGRAM is its path."""

import json
import os
import subprocess

PROGRAM = os.environ["CONFORMANCE_PROGRAM"]
NAME = "b2"
FORMATS = {"chunk", "frame", "sframe", "b2nd", "store", "table", "blp", "bcolz"}
# Exit codes, and the classes of errors that they stand for.
CLASSES = {1: ["truncated", "contradiction", "checksum"], 4: ["unknown"]}


class Refusal(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.classes = CLASSES.get(code)


def version():
    return run("--version").decode().split()[-1]


def run(*args):
    done = subprocess.run([PROGRAM, *args], stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode < 0:
        os.kill(os.getpid(), -done.returncode)
    if done.returncode:
        raise Refusal(done.returncode, done.stderr.decode(errors="replace").strip()[-200:])
    return done.stdout


def read(case, path):
    place = f"{path}@0" if case["format"] == "chunk" else path
    wanted = case.get("members")
    if case["kind"] != "valid":
        # A part that is damaged counts, whatever part it is.
        run("verify", "-q", place)
    if wanted is None:
        table = case["format"] == "table" or case["format"] == "store" and case["kind"] != "valid"
        return {"": b"" if table else run("cat", "-f", place)}
    return {name: member(case["format"], path, name, "values" in entry) for name, entry in wanted.items()}


def member(format, path, name, is_values):
    if format == "table":
        lines = run("show", "--json", "-n", "1000000000", "--columns", name, path).splitlines()
        return [json.loads(line).get(name) for line in lines]
    place = f"{path}::{name if name.startswith('/') else '/' + name}" if name else path
    if is_values:
        return json.loads(run("show", "--json", "-n", "1000000000", place))["values"]
    return run("cat", "-f", place)
