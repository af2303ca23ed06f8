"""The side of Python in `cargo xtask bench-peers`: requests are lines of JSON, and each is answered by a line with the
result, the seconds that it took on the wall, and those of all processors of this process.
"""

import json
import sys
import time


def serve(cases, others):
    """Answers requests: `cases` are measured, `others` are not."""
    for line in sys.stdin:
        request = json.loads(line)
        name = request.pop("case")
        function = cases.get(name) or others[name]
        wall, processor = time.perf_counter(), time.process_time()
        result = function(request)
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        print(json.dumps(dict(seconds=wall, processor=processor, result=result)), flush=True)
