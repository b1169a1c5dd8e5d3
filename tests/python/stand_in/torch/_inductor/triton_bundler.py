# SPDX-License-Identifier: Apache-2.0
"""PyTorch's bundler in small: names and calls of 2.6 to 2.15."""
import os
from types import SimpleNamespace


def triton_cache_dir(device):
    root = os.environ["TORCHINDUCTOR_CACHE_DIR"]
    return os.environ.get("TRITON_CACHE_DIR") or os.path.join(
        root, "triton", str(device))


class TritonBundler:
    _entries = None
    _static_autotuners = None

    @classmethod
    def begin_compile(cls):
        assert cls._entries is None
        cls._entries, cls._static_autotuners = [], []

    @classmethod
    def end_compile(cls):
        cls._entries = cls._static_autotuners = None

    @classmethod
    def put(cls, kernel_hash, device):
        if cls._entries is not None:
            cls._entries.append(SimpleNamespace(kernel_hash=kernel_hash,
                                                device=device))

    @classmethod
    def put_static_autotuner(cls, key, kernel):
        cls._static_autotuners.append(SimpleNamespace(
            cache_key=key, kernel_name="add_kernel", kernel=kernel))

    @classmethod
    def put_winner(cls, kernel_hash):
        assert cls._entries is not None, kernel_hash

    @classmethod
    def collect(cls):
        entries = cls._entries
        cls.end_compile()
        return SimpleNamespace(kernel_artifacts=entries), None

    @staticmethod
    def read_and_emit(bundle):
        return len(bundle.kernel_artifacts)
