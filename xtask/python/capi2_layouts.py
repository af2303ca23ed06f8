"""Compares the structs of blosc-capi with those of C-Blosc2's header, field by field.

    capi2_layouts.py INCLUDE

INCLUDE is the folder of the header, such as blosc2/include of the wheel of python-blosc2. A C
compiler says where the fields are.
"""

import pathlib
import subprocess
import sys
import tempfile

# Structs that the header declares without a typedef.
TAGS = {"chunk_cache_s": "struct chunk_cache_s"}


def source(lines):
    yield '#include <stddef.h>\n#include <stdio.h>\n#include "b2nd.h"'
    # An inline function of the header calls it.
    yield "const char *blosc2_error_string(int code) { return 0; }\nint main(void) {"
    for line in lines:
        name, *rest = line.split()
        ctype = TAGS.get(name, name)
        if len(rest) == 1:
            yield f'  printf("{name} %zu\\n", sizeof({ctype}));'
        else:
            yield f'  printf("{name} {rest[0]} %zu\\n", offsetof({ctype}, {rest[0]}));'
    yield "  return 0;\n}"


def main(include):
    cargo = ["cargo", "run", "--quiet", "--package", "blosc-capi", "--example", "layouts"]
    ours = subprocess.run(cargo, check=True, capture_output=True, text=True).stdout.splitlines()
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "layouts")
        program.with_suffix(".c").write_text("\n".join(source(ours)) + "\n")
        build = ["cc", "-w", f"-I{include}", "-o", program, program.with_suffix(".c")]
        subprocess.run(build, check=True)
        theirs = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    theirs = theirs.splitlines()
    for a, b in zip(theirs, ours):
        if a != b:
            print(f"the header has: {a}\nwe have:        {b}")
    if theirs != ours:
        return 1
    nstructs = sum(len(line.split()) == 2 for line in ours)
    print(f"{nstructs} structs, {len(ours) - nstructs} fields: as in the header")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
