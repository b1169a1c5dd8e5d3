# SPDX-License-Identifier: Apache-2.0
"""PyTorch calls this when it is imported, as an entry point of torch.backends.

PyTorch does not start if such a call fails. This one never fails, and does
nothing unless TKBUNDLE_INDUCTOR is set.
"""

from __future__ import annotations

import os

VARIABLE = "TKBUNDLE_INDUCTOR"
ARTIFACTS = "artifacts"


def start() -> None:
    """Install Inductor's hooks if the variable asks for them."""
    wanted = os.environ.get(VARIABLE, "")
    if wanted in ("", "0"):
        return
    try:
        _start(wanted)
    except Exception as error:  # a broken installation
        import logging
        logging.getLogger("tkbundle").warning("tkbundle: hooks: %s", error)


def _start(wanted: str) -> None:
    from tkbundle import _guard, inductor
    if wanted in ("1", ARTIFACTS):
        inductor.install(artifacts=wanted == ARTIFACTS)
    else:
        _guard.warn("hooks", f"{VARIABLE} is '{wanted}', and neither 1 nor "
                    f"{ARTIFACTS}: nothing is installed")
