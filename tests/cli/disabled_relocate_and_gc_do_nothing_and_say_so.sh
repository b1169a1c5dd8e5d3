# SPDX-License-Identifier: Apache-2.0
cache cache
find cache -printf '%p %i %T@\n' | sort >before
export TKBUNDLE_DISABLE=1
try tkbundle relocate cache
try tkbundle gc cache --max-entries 1
try tkbundle relocate nowhere
try_line 'tkbundle gc nowhere --max-entries 1 --json | json'
try tkbundle gc cache
find cache -printf '%p %i %T@\n' | sort | cmp - before
