# SPDX-License-Identifier: Apache-2.0
cache cache
rm cache/5D*/add_kernel.ptx
try_line 'tkbundle stats cache | tail -n 3'
tkbundle stats --json cache 2>/dev/null | json | sed -n '/"left_out"/,$p'
mkdir empty
try tkbundle stats --paths empty
tkbundle stats --json --paths empty | json
tkbundle collect empty -o empty.tkb >/dev/null
tkbundle stats --paths empty.tkb | grep -v ^packed
