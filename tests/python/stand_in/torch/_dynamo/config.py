# SPDX-License-Identifier: Apache-2.0
automatic_dynamic_remote_pgo = None
