# SPDX-License-Identifier: Apache-2.0
"""As much of PyTorch as a module of Inductor's needs to be compiled: its configurations,
and its compilations by the real Triton. What PyTorch itself does is tried with it."""
import types

cuda = types.SimpleNamespace(is_available=lambda: False)
version = types.SimpleNamespace(hip=None)
