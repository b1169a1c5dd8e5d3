# SPDX-License-Identifier: Apache-2.0
"""What the scripts share that check real engines, with a GPU and without."""

import contextlib
import json

counts = {True: 0, False: 0}
RUN = '{"verb":"run"'


def check(what, is_so):
    counts[bool(is_so)] += 1
    print("ok  " if is_so else "FAIL", what, flush=True)


def finish_checks():
    """Print the counts. The exit status."""
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 0 if not counts[False] else 1


def run_of(text):
    """The last document of `tkbundle run` in what it said; {}: there is none."""
    run = {}
    for part in text.split(RUN)[1:]:
        with contextlib.suppress(ValueError):
            run, _ = json.JSONDecoder().raw_decode(RUN + part)
    return run
