# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb --key OH >/dev/null
try tkbundle emit a.tkb
export TRITON_HOME="$PWD/other"
try tkbundle emit a.tkb
export TORCHINDUCTOR_CACHE_DIR="$PWD/inductor"
try tkbundle emit a.tkb
export TRITON_CACHE_DIR="$PWD/triton"
try tkbundle emit a.tkb
find . -name '*.autotune.json' | sort
