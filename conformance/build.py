#!/usr/bin/env python3
"""Makes cases/, manifest.json and checklists.json from the builders and the samples.

    python3 conformance/build.py             writes the files
    python3 conformance/build.py --check     compares them, byte for byte, and writes nothing
    python3 conformance/build.py --coverage  prints which entry of a checklist has which cases
"""

import argparse
import importlib
import json
import re
import sys
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from builders.suite import ERRORS, FORMATS, Suite  # noqa: E402

MODULES = ["chunk", "frame", "b2nd", "store", "blp", "bcolz", "samples"]
MAX_NBYTES, MIN_CASES = 10_000_000, 600

# The checklists: document, label in `checks`, and heading.
CHECKLISTS = [
    ("chunk.md", "4.1", "### 4.1 "), ("codecs.md", "3", "### Decoding"), ("cframe.md", "9.1", "### 9.1 "),
    ("sframe.md", "checks", "### What a reader checks"), ("legacy-frame.md", "7", "## 7. "), ("b2nd.md", "10", "## 10. "),
    ("store.md", "10", "## 10. "), ("bloscpack.md", "11", "## 11. "), ("bcolz.md", "13", "## 13. "), ("dtype.md", "Validation", "## Validation"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--coverage", action="store_true")
    args = parser.parse_args()
    suite = Suite()
    for module in MODULES:
        importlib.import_module(f"builders.{module}").cases(suite)
    files = dict(flat(suite.contents))
    checklists = read_checklists()
    files["checklists.json"] = as_json(checklists)
    files["manifest.json"] = as_json({
        "formats": list(FORMATS), "errors": ERRORS, "cases": [with_known(case) for _, case in sorted(suite.cases.items())],
    })
    faults = compare(files) if args.check else write(files)
    faults += coverage(suite.cases.values(), checklists, args.coverage)
    faults += limits(suite.cases.values(), files)
    for fault in faults:
        print(f"FAULT {fault}")
    sys.exit(bool(faults))


def flat(contents):
    """Path and bytes of every file."""
    for path, content in contents.items():
        if isinstance(content, bytes):
            yield path, content
        else:
            for name, part in content.items():
                yield f"{path}/{name}", part


def as_json(value):
    """One case on a line, so that a change shows as one."""
    text = json.dumps(value, ensure_ascii=False)
    if "cases" in value:
        head = json.dumps({key: part for key, part in value.items() if key != "cases"}, ensure_ascii=False, indent=1)
        lines = ",\n".join(json.dumps(case, ensure_ascii=False, allow_nan=False) for case in value["cases"])
        text = f"{head[:-2]},\n \"cases\": [\n{lines}\n ]\n}}"
    else:
        text = json.dumps(value, ensure_ascii=False, indent=1)
    return (text + "\n").encode()


def with_known(case):
    """Adds what releases are known to do with the case, where it is not what is wanted."""
    known = {name: outcomes[case["id"]] for name, outcomes in known_results() if case["id"] in outcomes}
    return {**case, "known": known} if known else case


@cache
def known_results():
    """results/NAME.json: outcomes of a release, the right ones left out."""
    found = [json.loads(path.read_text()) for path in sorted((ROOT / "results").glob("*.json"))]
    return [(result["implementation"], {id: case["outcome"] for id, case in result["cases"].items()}) for result in found]


def write(files):
    for path in existing() - set(files):
        (ROOT / path).unlink()
    for folder in sorted((ROOT / "cases").rglob("*"), reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    for path, content in files.items():
        target = ROOT / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.is_file() or target.read_bytes() != content:
            target.write_bytes(content)
    return []


def compare(files):
    faults = [f"{path}: no builder makes it" for path in sorted(existing() - set(files))]
    for path, content in files.items():
        target = ROOT / path
        if not target.is_file():
            faults.append(f"{path}: not there")
        elif target.read_bytes() != content:
            faults.append(f"{path}: other bytes")
    return faults


def existing():
    return {path.relative_to(ROOT).as_posix() for path in (ROOT / "cases").rglob("*") if path.is_file()}


def read_checklists():
    """The lists of the documents; where the folder stands alone, the copy that was made of them."""
    documents = ROOT.parent / "docs/formats"
    if not documents.is_dir():
        return json.loads((ROOT / "checklists.json").read_text())
    return {f"{document} {label}": entries(documents / document, heading) for document, label, heading in CHECKLISTS}


def entries(path, heading):
    """A numbered list, or the rows of the last table, below a heading."""
    _, found, text = ("\n" + path.read_text(encoding="utf-8")).partition("\n" + heading)
    assert found, f"{path.name}: no {heading}"
    text = re.split(r"\n#+ ", text)[0]
    rows = re.findall(r"^\| (.*) \|$", text, re.M)
    if rows:
        return [re.sub(r"[`*]", "", row.split(" | ")[0]) for row in rows[1:]]
    return [re.sub(r"[`*]|\[|\]\([^)]*\)", "", " ".join(item.split())) for item in re.findall(r"^\d+\. (.*(?:\n   .*)*)", text, re.M)]


def coverage(cases, checklists, is_long):
    found, faults = defaultdict(list), []
    for case in cases:
        for check in case["checks"]:
            found[check].append(case["id"])
    known = {f"{name} ({n})" for name, items in checklists.items() for n, _ in enumerate(items, 1)}
    faults += [f"{check}: no such entry" for check in found if check not in known]
    for name, items in checklists.items():
        ids = [found[f"{name} ({n})"] for n in range(1, len(items) + 1)]
        print(f"{name:<22} {sum(map(bool, ids)):>3} of {len(items):>3} entries, {sum(map(len, ids)):>4} cases")
        for n, (item, of_item) in enumerate(zip(items, ids), 1):
            faults += [] if of_item else [f"{name} ({n}): no case: {item}"]
            if is_long:
                print(f"  {n:>2}. {item[:70]:<70} {len(of_item):>3}  {', '.join(of_item[:2])}")
    return faults


def limits(cases, files):
    kinds = Counter((case["format"], case["kind"]) for case in cases)
    print(f"\n{'format':<8}{'valid':>7}{'invalid':>9}{'undefined':>11}")
    for format in FORMATS:
        print(f"{format:<8}{kinds[format, 'valid']:>7}{kinds[format, 'invalid']:>9}{kinds[format, 'undefined']:>11}")
    samples = sum(path.stat().st_size for path in (ROOT / "samples").rglob("*") if path.is_file())
    nbytes = sum(map(len, files.values())) + samples
    total = sum(kinds.values())
    print(f"{total} cases, {nbytes / 1e6:.1f} MB with samples")
    faults = [] if total >= MIN_CASES else [f"{total} cases, at least {MIN_CASES} are wanted"]
    return faults + ([f"{nbytes} bytes, the limit is {MAX_NBYTES}"] if nbytes > MAX_NBYTES else [])


if __name__ == "__main__":
    main()
