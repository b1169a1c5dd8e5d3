# SPDX-License-Identifier: Apache-2.0
cache cache
touch file
try tkbundle collect nowhere -o a.tkb
try_line 'tkbundle collect nowhere -o a.tkb --json | json'
try tkbundle collect --tree mine=nowhere -o a.tkb
try tkbundle collect file -o a.tkb
try tkbundle collect cache -o nowhere/a.tkb
try tkbundle collect cache -o file/a.tkb
try tkbundle collect cache -o cache
try tkbundle collect cache
mkdir empty
try tkbundle collect empty -o empty.tkb
try tkbundle ls empty.tkb
ls
