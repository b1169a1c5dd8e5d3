# SPDX-License-Identifier: Apache-2.0
enable_remote_autograd_cache = None
