# SPDX-License-Identifier: Apache-2.0
import functools


@functools.lru_cache(maxsize=None)
def _set_triton_ptxas_path():
    """There is no ptxas beside this file."""
