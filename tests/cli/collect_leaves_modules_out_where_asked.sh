# SPDX-License-Identifier: Apache-2.0
fixture triton-3.6.0-h100 .
try tkbundle collect .triton/cache -o all.tkb
try tkbundle collect .triton/cache -o kernels.tkb --no-modules
tkbundle ls --json all.tkb | json | grep -c '"kind": "module"'
tkbundle ls --json kernels.tkb | json | grep -c '"kind": "module"' || true
