# SPDX-License-Identifier: Apache-2.0
"""PyTorch's remote caches in small: names, parents and calls of 2.6 to 2.15."""
import json


class RemoteCacheBackend:
    def _get(self, key):
        raise NotImplementedError

    def _put(self, key, data):
        raise NotImplementedError

    def get(self, key):
        return self._get(key)

    def put(self, key, data):
        self._put(key, data)


class RemoteCache:
    backend_override_cls = None

    def __init__(self, cache_id):
        self._key_fmt = f"pt2:{cache_id}::{{key}}:c1"
        self.backend = self.__class__.backend_override_cls()

    def get(self, key):
        data = self.backend.get(self._key_fmt.format(key=key))
        return json.loads(data) if data else None

    def put(self, key, value):
        self.backend.put(self._key_fmt.format(key=key),
                         bytes(json.dumps(value), "ascii"))


class RemoteAutotuneCache(RemoteCache):
    pass


class RemoteBundledAutotuneCache(RemoteCache):
    pass


class RemoteFxGraphCache(RemoteCache):
    pass


class RemoteAOTAutogradCache(RemoteCache):
    pass


class RemoteDynamoPGOCache(RemoteCache):
    pass
