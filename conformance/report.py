#!/usr/bin/env python3
"""Makes a page of results/: `report.py PAGE` writes it, `report.py PAGE --check` compares it."""

import json
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent
OURS = ("b2", "libblosc ours", "libblosc2 ours")
SAYS = {
    "wrong data": "Gives other data than the writer's, without an error",
    "no data": "Refuses files that are sound",
    "no error": "Gives data where the document demands an error",
    "crash": "The process dies (seen twice)",
    "hang": "Does not end within 20 seconds (seen twice)",
    "memory": "Asks for more than 1 GiB",
}


def main():
    page = Path(sys.argv[1])
    text = made()
    if "--check" in sys.argv:
        if page.read_text() != text:
            sys.exit(f"{page}: not what results/ say; run conformance/report.py {page}")
    else:
        page.write_text(text)


def made():
    manifest = json.loads((ROOT / "manifest.json").read_text())
    cases, formats = {case["id"]: case for case in manifest["cases"]}, manifest["formats"]
    results = [json.loads(path.read_text()) for path in sorted((ROOT / "results").glob("*.json"))]
    results.sort(key=lambda result: (result["module"] not in OURS, result["module"]))
    kinds = Counter(case["kind"] for case in cases.values())
    lines = [
        "# Conformance", "",
        "Made by `python3 conformance/report.py docs/conformance.md` from `conformance/results`; [the suite](../conformance/README.md) says how to run it.", "",
        f"{len(cases)} cases: {kinds['valid']} files that must be read, {kinds['invalid']} that must be refused, {kinds['undefined']} that leave a reader free.", "",
        "| implementation | " + " | ".join(formats) + " |", "|---|" + "--:|" * len(formats),
    ]
    for result in results:
        wrong = Counter(id.split("/")[0] for id in result["cases"])
        cells = [f"{result['run'][format] - wrong[format]} of {result['run'][format]}" if format in result["run"] else "" for format in formats]
        lines.append(f"| {result['implementation']} | " + " | ".join(cells) + " |")
    lines += ["", "A cell counts the right cases of all that the implementation claims to read. Formats that an original program withdrew do not count against it."
              " Many cases are stricter than a program promises to be. The documents refuse a file that contradicts itself, even where nothing is lost; many programs read it."]
    for result in results:
        lines += section(result, cases)
    return "\n".join(lines) + "\n"


def section(result, cases):
    lines = ["", f"## {result['implementation']}", ""]
    if not result["cases"]:
        return lines + ["Every case is right."]
    for outcome in SAYS:
        found = {id: case for id, case in result["cases"].items() if case["outcome"] == outcome}
        if not found:
            continue
        lines += [f"{SAYS[outcome]}:", ""]
        for id, case in found.items():
            detail = f" ({case['detail']})" if case.get("detail") and outcome in ("crash", "wrong data") else ""
            lines.append(f"- `{id}`: {cases[id]['about']}{detail}")
        lines.append("")
    return lines[:-1]


if __name__ == "__main__":
    main()
