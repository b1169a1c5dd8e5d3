# SPDX-License-Identifier: Apache-2.0
"""How a program imports parts of FlashInfer, whose __init__.py imports all of it."""

# It begins a program, whose first argument is the folder that the package lies in.
STAND_IN = """
import importlib.machinery, sys, types
site = sys.argv[1]
for name in ("flashinfer", "flashinfer.jit"):
    package = types.ModuleType(name)
    package.__path__ = [f"{site}/{name.replace('.', '/')}"]
    package.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    sys.modules[name] = package
"""
