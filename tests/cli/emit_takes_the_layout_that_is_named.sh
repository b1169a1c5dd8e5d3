# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb --key OH >/dev/null
try tkbundle emit a.tkb auto --layout auto
try tkbundle emit a.tkb keys --layout=triton
try tkbundle emit a.tkb folder --layout inductor
try tkbundle emit a.tkb folder
mkdir -p made/triton/3
try tkbundle emit a.tkb made
try tkbundle emit a.tkb torchinductor_x/
TORCHINDUCTOR_CACHE_DIR="$PWD/named/" try tkbundle emit a.tkb "$PWD/named"
try tkbundle emit a.tkb auto --layout flat
find . -name '*.autotune.json' | sort
