# SPDX-License-Identifier: Apache-2.0
"""Settings: None is nobody's choice."""
import os

chosen = os.environ.get("TORCHINDUCTOR_FX_GRAPH_REMOTE_CACHE")
fx_graph_remote_cache = None if chosen is None else chosen == "1"
bundled_autotune_remote_cache = None
