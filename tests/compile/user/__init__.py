# SPDX-License-Identifier: Apache-2.0
"""A package with kernels as people write them: data of triton_users.py."""
