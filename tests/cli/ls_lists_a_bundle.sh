# SPDX-License-Identifier: Apache-2.0
fixture triton-3.6.0-h100 .
tkbundle collect .triton/cache -o a.tkb >/dev/null
tkbundle ls a.tkb
