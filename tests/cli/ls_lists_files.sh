# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb --key OH --key 5D >/dev/null
tkbundle ls --files a.tkb
