#!/usr/bin/env python3
"""Runs implementations over the cases and compares them.

    python3 conformance/run.py                                  every adapter whose program is there
    python3 conformance/run.py --adapter b2 --b2 target/debug/b2
    python3 conformance/run.py --command 'mytool decode {file}' --format chunk

Each case has a process of its own, with limits of time and memory. Python 3 and its standard library suffice; the adapters of
Python packages need these packages in the interpreter that `--python` names. The runner needs a system with `fork`: Linux or macOS.
"""

import argparse
import hashlib
import html
import json
import os
import resource
import shlex
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent
# Results of a case. `wrong data` and `no data` are those of valid cases, `no error` of invalid ones.
OUTCOMES = ["right", "wrong data", "no data", "no error", "crash", "hang", "memory"]
EXPLAIN = {
    "right": "the data, or an error where one is wanted", "wrong data": "other data, without an error", "no data": "an error where data are wanted",
    "no error": "data where an error is wanted", "crash": "the process died, twice", "hang": "no end within the time, twice", "memory": "more memory than allowed",
}
# The letter of each outcome but the first.
LETTERS = "wnechm"
PYTHON = ["python_blosc2", "python_blosc", "numcodecs", "zarr_python", "bloscpack", "bcolz", "hdf5plugin"]


def main():
    args = arguments()
    cases = [case for case in json.loads((ROOT / "manifest.json").read_text())["cases"]
             if (not args.format or case["format"] in args.format) and (not args.case or case["id"] in args.case)]
    named = set(args.adapter or []) | set(args.command)
    runs = [run for run in implementations(args) if not named or {run.module, run.label} & named]
    if not runs:
        sys.exit("no implementation to run: see --help")
    results = [result for result in (run.all(cases, args) for run in runs) if result]
    table = text_table(results)
    print(table)
    print(text_differences(results, args.verbose))
    if args.json:
        Path(args.json).write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    if args.html:
        Path(args.html).write_text(page(results, {case["id"]: case for case in cases}))
    if args.record:
        record(results)
    wrong = sum(case["outcome"] != "right" for result in results if result["module"] in args.strict for case in result["cases"].values())
    missing = [name for name in args.strict if name not in [result["module"] for result in results]]
    for name in missing:
        print(f"{name}: not there")
    sys.exit(bool(wrong or missing))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--adapter", action="append", help="only this one (may be repeated): a name of the table, or of a module")
    parser.add_argument("--python", default=sys.executable, help="the interpreter with the Python packages")
    parser.add_argument("--b2", help="the program b2")
    parser.add_argument("--library", action="append", default=[], metavar="NAME=PATH", help="a libblosc or libblosc2")
    parser.add_argument("--command", action="append", default=[], metavar="COMMAND", help="a command that writes the content of {file} (and of {member}) to standard output")
    parser.add_argument("--format", action="append", help="only cases of this format")
    parser.add_argument("--case", action="append", help="only this case")
    parser.add_argument("--seconds", type=float, default=20, help="limit of time of a case")
    parser.add_argument("--mib", type=int, default=1024, help="limit of memory of a case")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", help="write all results")
    parser.add_argument("--html", help="write one page that compares the implementations")
    parser.add_argument("--record", action="store_true", help="write results/NAME.json, which build.py takes into the manifest")
    parser.add_argument("--strict", action="append", default=[], help="fail if this adapter has a case that is not right")
    parser.add_argument("--verbose", action="store_true", help="name every case that is not right")
    return parser.parse_args()


def implementations(args):
    runs = [Host(module, args.python) for module in PYTHON]
    if args.b2:
        runs.append(Host("b2", sys.executable, CONFORMANCE_PROGRAM=str(Path(args.b2).resolve())))
    for named in args.library:
        name, _, path = named.partition("=")
        module = "c_blosc2" if "blosc2" in Path(path).name else "c_blosc"
        runs.append(Host(module, sys.executable, label=name, CONFORMANCE_LIBRARY=str(Path(path).resolve()), CONFORMANCE_NAME=name))
    return runs + [Command(command) for command in args.command]


class Host:
    """An adapter in processes of its own: adapters/host.py."""

    def __init__(self, module, python, label=None, **environment):
        self.module, self.label, self.python = module, label or module, python
        self.environment = {**os.environ, **environment, "BLOSC_NTHREADS": "1", "OMP_NUM_THREADS": "1"}

    def all(self, cases, args):
        workers = [self.start(args) for _ in range(args.jobs)]
        about = json.loads(workers[0].stdout.readline() or "null")
        for worker in workers[1:]:
            worker.stdout.readline()
        if about is None:
            print(f"{self.label}: left out: {last_line(workers[0])}", file=sys.stderr)
            return None

        def ask(worker, case):
            worker.stdin.write(json.dumps(case) + "\n")
            worker.stdin.flush()
            return json.loads(worker.stdout.readline())
        # Later releases of an original program do not claim the formats that an older one withdrew.
        mine = [case for case in cases if case["format"] in about["formats"] and (self.module == "b2" or "until" not in case)]
        found = collect(mine, workers, ask)
        for worker in workers:
            worker.stdin.close()
            worker.wait()
        return {"implementation": f"{about['name']} {about['version']}", "module": self.label, "cases": found}

    def start(self, args):
        command = [self.python, str(ROOT / "adapters/host.py"), self.module, str(ROOT), str(args.seconds), str(args.mib)]
        return subprocess.Popen(command, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def last_line(worker):
    return (worker.communicate()[1].strip().splitlines() or ["no answer"])[-1]


class Command:
    """Any program that writes the content to standard output, and ends with another code than 0 if it refuses."""

    def __init__(self, command):
        self.command, self.module, self.label = command, command, command

    def all(self, cases, args):
        has_members = "{member}" in self.command
        mine = [case for case in cases if has_members or "members" not in case]
        found = collect(mine, range(args.jobs), lambda _, case: self.ask(case, args))
        return {"implementation": self.command, "module": self.module, "cases": found}

    def ask(self, case, args):
        members = {}
        for name in case.get("members") or [""]:
            words = [word.replace("{file}", str(ROOT / case["file"])).replace("{member}", name) for word in shlex.split(self.command)]
            limits = (args.mib << 20, args.mib << 20)
            try:
                done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=args.seconds,
                                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limits))
            except subprocess.TimeoutExpired:
                return {"outcome": "hang"}
            if done.returncode < 0:
                return {"outcome": "crash", "detail": f"signal {-done.returncode}"}
            if done.returncode:
                return {"outcome": "error", "detail": done.stderr.decode(errors="replace").strip()[-200:]}
            members[name] = {"nbytes": len(done.stdout), "sha256": hashlib.sha256(done.stdout).hexdigest()}
        return {"members": members}


def collect(cases, workers, ask):
    """Shares the cases among workers. A case that crashes or hangs runs once more."""
    queue, found, lock = iter(cases), {}, threading.Lock()

    def work(worker):
        while True:
            with lock:
                case = next(queue, None)
            if case is None:
                return
            outcome = judge(case, ask(worker, case))
            if outcome and outcome["outcome"] in ("crash", "hang"):
                again = judge(case, ask(worker, case))
                outcome = outcome if again and again["outcome"] == outcome["outcome"] else again
            if outcome:
                found[case["id"]] = outcome
    threads = [threading.Thread(target=work, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return dict(sorted(found.items()))


def judge(case, answer):
    """The outcome for an answer of an adapter; None if it does not claim to read the case."""
    outcome, kind = answer.get("outcome"), case["kind"]
    if outcome == "unsupported":
        return None
    if outcome in ("crash", "hang") or outcome == "memory" and kind != "undefined":
        return answer
    if outcome in ("error", "memory"):
        classes = answer.pop("classes", None)
        note = {"is_class_right": case["error"]["class"] in classes} if classes is not None and kind == "invalid" else {}
        return {**answer, **note, "outcome": "no data" if kind == "valid" else "right"}
    if kind == "invalid":
        return {"outcome": "no error"}
    wanted = case.get("members") or ({"": case["data"]} if "data" in case else {})
    wrong = [name for name, entry in wanted.items() if not same(entry, answer["members"].get(name))]
    return {"outcome": "wrong data", "detail": ", ".join(wrong)} if wrong else {"outcome": "right"}


def same(wanted, found):
    key = "values" if "values" in wanted else "sha256"
    return found is not None and key in found and found[key] in (wanted[key], wanted.get("c_order_sha256"))


# Reports.


def count(result, format=None):
    return Counter(case["outcome"] for id, case in result["cases"].items() if format is None or id.startswith(f"{format}/"))


def formats(results):
    order = json.loads((ROOT / "manifest.json").read_text())["formats"]
    return [format for format in order if any(count(result, format) for result in results)]


def cell(found):
    return "" if not found else f"{found['right']}/{sum(found.values())}" + "".join(
        f" {found[outcome]}{letter}" for outcome, letter in zip(OUTCOMES[1:], LETTERS) if found[outcome])


def text_table(results):
    rows = [["", *formats(results), "all"]]
    rows += [[result["implementation"][:44], *(cell(count(result, format)) for format in rows[0][1:-1]), cell(count(result))] for result in results]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(part.ljust(width) for part, width in zip(row, widths)).rstrip() for row in rows]
    letters = ", ".join(f"{letter} {outcome}: {EXPLAIN[outcome]}" for outcome, letter in zip(OUTCOMES[1:], LETTERS))
    return "\n".join(lines) + f"\n\nright/all; {letters}"


def text_differences(results, is_long):
    lines = []
    for result in results:
        for id, case in result["cases"].items():
            if case["outcome"] != "right" and (is_long or case["outcome"] in ("crash", "hang")):
                lines.append(f"{result['implementation'][:30]}: {case['outcome']:<10} {id} {case.get('detail', '')}".rstrip())
    return "\n".join(lines)


def page(results, cases):
    """One page without scripts."""
    head = "<th></th>" + "".join(f"<th>{html.escape(result['implementation'])}</th>" for result in results)
    rows = "".join(
        f"<tr><th>{format}</th>" + "".join(f"<td class='{state(count(result, format))}'>{cell(count(result, format))}</td>" for result in results) + "</tr>"
        for format in formats(results))
    details = ""
    for id, case in cases.items():
        found = [result["cases"].get(id) for result in results]
        if any(one and one["outcome"] != "right" for one in found):
            details += f"<tr><td><code>{html.escape(id)}</code><br>{html.escape(case['about'])}</td><td>{case['kind']}</td>" + "".join(
                f"<td class='{one['outcome'].split()[0] if one else ''}' title='{html.escape(one.get('detail', '')) if one else ''}'>{one['outcome'] if one else ''}</td>"
                for one in found) + "</tr>"
    legend = "".join(f"<dt>{letter}</dt><dd>{outcome}: {EXPLAIN[outcome]}</dd>" for outcome, letter in zip(OUTCOMES[1:], LETTERS))
    return f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Conformance</title><style>
body {{ font: 15px/1.4 sans-serif; margin: 2em }} table {{ border-collapse: collapse }} td, th {{ border: 1px solid #ccc; padding: .2em .5em; text-align: left }}
.all, .right {{ background: #dfd }} .some, .wrong, .no {{ background: #ffd }} .bad, .crash, .hang, .memory {{ background: #fdd }} dt {{ float: left; width: 2em }}
</style><h1>Conformance</h1><p>Cases that are right, of all that the implementation claims to read.</p><dl>{legend}</dl>
<table><tr>{head}</tr>{rows}</table><h2>Cases that are not right everywhere</h2><table><tr><th>case</th><th>kind</th>{head[9:]}</tr>{details}</table></html>
"""


def state(found):
    if not found:
        return ""
    return "bad" if found["crash"] or found["hang"] else "all" if found["right"] == sum(found.values()) else "some"


def record(results):
    folder = ROOT / "results"
    folder.mkdir(exist_ok=True)
    for result in results:
        wrong = {id: case for id, case in result["cases"].items() if case["outcome"] != "right"}
        total = {format: sum(count(result, format).values()) for format in formats([result])}
        kept = {"implementation": result["implementation"], "module": result["module"], "run": total, "cases": wrong}
        (folder / f"{result['module'].replace(' ', '-')}.json").write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    start = time.monotonic()
    try:
        main()
    finally:
        print(f"{time.monotonic() - start:.0f} s", file=sys.stderr)
