# SPDX-License-Identifier: Apache-2.0
cache cache
rm cache/5DJU*/add_kernel.cubin
try tkbundle push a cache --remote remote --strict
try test ! -e remote
try tkbundle push a cache --remote remote -n
try_line 'tkbundle push a cache --remote remote --json 2>words | json'
try tkbundle push a cache --remote remote
