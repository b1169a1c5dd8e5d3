# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb --key OH >/dev/null
each_root try tkbundle emit a.tkb
find . -name '*.autotune.json' | sort
