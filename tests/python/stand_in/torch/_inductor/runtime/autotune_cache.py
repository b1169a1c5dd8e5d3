# SPDX-License-Identifier: Apache-2.0
"""Who tunes kernels knows whether Triton has a GPU."""
import os


def inductor_meta_from_config():
    return {"backend_hash": os.environ.get("STAND_IN_GPU")}
