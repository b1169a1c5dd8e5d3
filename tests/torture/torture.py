#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kill, starve and misinform tkbundle, and look at what it leaves.

Each scenario is a sentence that must hold; the output is TAP.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback

import disks
import faults
import leftovers
import races
import remotes
from cachelib import Torn
from harness import Torture
from machine import Failure, Skip

SCENARIOS = (
    races.sixteen_killed_emits_show_nothing_torn_and_never_disturb_triton,
    races.a_killed_collect_shows_no_torn_bundle,
    races.what_a_killed_collect_leaves_is_gone_after_the_next,
    races.what_is_collected_beside_a_writing_triton_verifies,
    disks.on_a_full_disk_emit_publishes_what_fits,
    disks.on_a_full_disk_collect_fails_and_leaves_no_file,
    disks.on_overlayfs_emit_repairs_what_lies_in_a_lower_layer,
    disks.without_flags_of_renameat2_entries_are_emitted_whole,
    faults.whatever_system_call_fails_emit_leaves_nothing_torn,
    faults.killed_at_any_system_call_emit_leaves_nothing_torn,
    faults.whatever_system_call_fails_collect_leaves_no_torn_bundle,
    faults.killed_at_any_system_call_collect_leaves_no_torn_bundle,
    remotes.killed_at_any_system_call_a_push_to_a_folder_tears_nothing,
    remotes.killed_at_any_system_call_a_pull_from_a_folder_tears_nothing,
    remotes.killed_at_any_system_call_a_push_to_redis_tears_nothing,
    remotes.killed_at_any_system_call_a_pull_from_redis_tears_nothing,
    leftovers.a_signal_ends_emit_and_leaves_no_stage,
    leftovers.the_stage_of_a_dead_emit_is_removed_and_that_of_a_live_one_kept,
    leftovers.a_young_temporary_folder_of_triton_makes_its_entry_busy,
    leftovers.a_cache_root_that_cannot_be_written_is_named_in_one_sentence,
    leftovers.after_a_power_failure_emit_hashes_and_repairs_what_is_there,
)


def try_scenario(t, scenario):
    """Run one; return "ok", "not ok" or a reason to skip, and the notes."""
    t.notes = []
    try:
        scenario(t)
    except Skip as skip:
        return "ok", f" # SKIP {skip}"
    except (Torn, Failure) as problem:
        t.note(str(problem))
        return "not ok", ""
    except Exception:
        t.note(traceback.format_exc())
        return "not ok", ""
    return "ok", ""


def run_scenarios(t, scenarios):
    """Print TAP; return how many failed."""
    failures = 0
    for number, scenario in enumerate(scenarios, 1):
        sentence = scenario.__name__.replace("_", " ")
        begin = time.monotonic()
        verdict, remark = try_scenario(t, scenario)
        failures += verdict != "ok"
        print(f"{verdict} {number} - {sentence}{remark}")
        t.note(f"{time.monotonic() - begin:.1f} s")
        for line in "\n".join(t.notes).splitlines():
            print(f"# {line}")
        sys.stdout.flush()
    print(f"1..{len(scenarios)}")
    return failures


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?",
                        default=os.environ.get("TKBUNDLE"),
                        help="the tkbundle to try; default: $TKBUNDLE")
    parser.add_argument("--rounds", type=int, default=20,
                        help="how long; 20 is short, 1000 tries all")
    parser.add_argument("--seed", type=int, default=None,
                        help="of the random choices; printed if not given")
    parser.add_argument("--dir", default=None,
                        help="work below this folder")
    parser.add_argument("--only", default="", metavar="NAME",
                        help="only scenarios whose sentence has this in it")
    options = parser.parse_args()
    if not options.program:
        parser.error("no program: name one, or set TKBUNDLE")
    if not os.access(options.program, os.X_OK):
        parser.error(f"'{options.program}' is not a program")
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(2**32)
    return options


def main():
    options = parse_arguments()
    wanted = options.only.replace("_", " ")
    scenarios = [scenario for scenario in SCENARIOS
                 if wanted in scenario.__name__.replace("_", " ")]
    if not scenarios:
        sys.exit(f"no scenario has '{options.only}' in its name")

    # A shell ignores INT for what it starts in the background.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # So that what is started is stopped and what is made removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    os.umask(0o022)
    print(f"# seed {options.seed}, {options.rounds} rounds")
    work = tempfile.mkdtemp(prefix="tkb-torture-", dir=options.dir)
    try:
        t = Torture(options.program, work, options.rounds, options.seed)
        try:
            t.prepare()
        except Failure as failure:
            print("\n".join("# " + line for line in str(failure).split("\n")))
            print("Bail out! the bundles cannot be collected")
            return 1
        return 1 if run_scenarios(t, scenarios) else 0
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    sys.exit(main())
