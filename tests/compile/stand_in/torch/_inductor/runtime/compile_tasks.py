# SPDX-License-Identifier: Apache-2.0
import functools
import os
from pathlib import Path


@functools.lru_cache(maxsize=None)
def _set_triton_ptxas_path():
    if os.environ.get("TRITON_PTXAS_PATH") is None:
        ptxas = Path(__file__).absolute().parents[2] / "bin" / "ptxas"
        if ptxas.is_file() and os.access(ptxas, os.X_OK):
            os.environ["TRITON_PTXAS_PATH"] = str(ptxas)
