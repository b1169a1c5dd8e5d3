# SPDX-License-Identifier: Apache-2.0
class AutotuneCache:
    @staticmethod
    def create(_inductor_meta, _filename, _configs_hash):
        return None


def _load_cached_autotuning(best, configs_hash, configs, _inductor_meta):
    if best.pop("configs_hash", None) != configs_hash:
        return None
    found = [config for config in configs if config.all_kwargs() == best]
    return found[0] if len(found) == 1 else None
