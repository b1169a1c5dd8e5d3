"""Triton's own Redis cache, for Triton 3.4 to 3.9.

Those versions look for the settings of their RedisRemoteCacheBackend where they
are not (knobs.cache.redis instead of knobs.redis), and die of it.  With this
file on PYTHONPATH,

    TRITON_CACHE_MANAGER=triton.runtime.cache:RemoteCacheManager
    TRITON_REMOTE_CACHE_BACKEND=triton_redis:Backend

mean what they should; up to 3.3 triton.runtime.cache:RedisRemoteCacheBackend
does so by itself.  `tkbundle push --layout triton` fills the server.
"""

from triton import knobs
from triton.runtime.cache import RedisRemoteCacheBackend


class Backend(RedisRemoteCacheBackend):
    """The same, told where its settings are."""

    def __init__(self, key):
        knobs.cache.redis = knobs.redis
        super().__init__(key)
