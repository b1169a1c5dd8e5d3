# SPDX-License-Identifier: Apache-2.0
"""CA certificates for TLS, for machines that have none."""

from __future__ import annotations

import importlib.util
import os
from typing import Optional


def certifi() -> Optional[str]:
    """The certificate file of the package certifi, found without importing it.
    The libraries use it if neither variables nor the machine provide
    certificates."""
    try:
        spec = importlib.util.find_spec("certifi")
    except (ImportError, ValueError):
        return None
    folders = (spec and spec.submodule_search_locations) or ()
    paths = [os.path.join(folder, "cacert.pem") for folder in folders]
    return next(filter(os.path.isfile, paths), None)
