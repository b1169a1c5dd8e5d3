# SPDX-License-Identifier: Apache-2.0
"""PyTorch's cache artifacts in small: names, parents and calls of 2.7 to 2.15."""
import dataclasses
import pickle


@dataclasses.dataclass(frozen=True)
class CacheArtifact:
    key: str
    content: bytes


class CacheArtifactFactory:
    types = {}

    @classmethod
    def register(cls, artifact_cls):
        assert artifact_cls.type() not in cls.types
        cls.types[artifact_cls.type()] = artifact_cls
        return artifact_cls


class CacheArtifactManager:
    found = []

    @classmethod
    def record_artifact(cls, artifact_type, key, content):
        artifact = CacheArtifactFactory.types[artifact_type](key, content)
        if artifact not in cls.found:
            cls.found.append(artifact)

    @classmethod
    def serialize(cls):
        return pickle.dumps([(one.type(), one.key, one.content)
                             for one in cls.found])


def load(saved):
    """torch.compiler.load_cache_artifacts()"""
    for kind, key, content in pickle.loads(saved):
        CacheArtifactFactory.types[kind](key, content).populate_cache()
