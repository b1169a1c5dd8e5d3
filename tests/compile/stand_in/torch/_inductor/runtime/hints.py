# SPDX-License-Identifier: Apache-2.0
import typing


class DeviceProperties(typing.NamedTuple):
    type: str
    index: int
    multi_processor_count: int
    cc: int
    major: typing.Optional[int] = None
    regs_per_multiprocessor: typing.Optional[int] = None
    max_threads_per_multi_processor: typing.Optional[int] = None
    max_threads_per_block: typing.Optional[int] = None
    warp_size: typing.Optional[int] = None

    @classmethod
    def create(cls, device):
        raise NotImplementedError("a module has the properties")
