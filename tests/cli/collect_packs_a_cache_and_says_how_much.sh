# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb
ls
