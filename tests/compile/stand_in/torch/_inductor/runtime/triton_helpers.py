# SPDX-License-Identifier: Apache-2.0
def set_driver_to_gpu():
    raise RuntimeError("Could not find an active GPU backend")


def set_driver_to_cpu():
    raise RuntimeError("there is no driver of a CPU")
