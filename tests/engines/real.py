# SPDX-License-Identifier: Apache-2.0
"""What real_inductor.py, real_torch.py and real_vllm.py share: homes, starts in them, and
checks."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

# Behind all others: files there have names of engines.
sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "gpu"))
# pylint: disable=wrong-import-position,unused-import
from checks import check, finish_checks


def start(home, words, environment):
    """Run a command in a new home. The last JSON line that it printed, and its stderr."""
    os.makedirs(home, exist_ok=True)
    done = subprocess.run(
        words, timeout=600, check=False,
        env={"HOME": home, "TMPDIR": home, "PATH": os.environ["PATH"], "LC_ALL": "C",
             "TKBUNDLE_CONFIG": "/dev/null", **environment},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lines = [line for line in done.stdout.decode().splitlines() if line.startswith("{")]
    said = done.stderr.decode()
    if done.returncode != 0 or not lines:
        raise SystemExit(f"{home}: status {done.returncode}: {said[-4000:]}")
    return json.loads(lines[-1]), said


def measure_modes(machines, modes):
    """
    Measure each mode, or those that the command names behind TKBUNDLE PYTHON [WORK_DIR],
    in a new folder, which is removed. The exit status.
    """
    work = tempfile.mkdtemp(prefix="tkbundle-real-", dir=(sys.argv[3:] or [None])[0])
    try:
        made = machines(sys.argv[1], sys.argv[2], work)
        for mode in sys.argv[4:] or modes:
            made.measure(mode)
    finally:
        shutil.rmtree(work)
    return finish_checks()
