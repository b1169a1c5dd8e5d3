# SPDX-License-Identifier: Apache-2.0
cache cache
try tkbundle collect -n cache
try tkbundle relocate -n cache
try tkbundle relocate cache
try tkbundle collect -n cache
try tkbundle relocate cache
grep -ho '"/[^"]*cubin"' cache/*/__grp__*
mv cache other
try_line 'cd other && tkbundle relocate --dry-run .'
