# SPDX-License-Identifier: Apache-2.0
cache cache
rm cache/5D*/add_kernel.ptx
mkdir cache/EMPTY
touch cache/stray
try tkbundle ls cache
try_line 'tkbundle ls --json cache 2>/dev/null >document'
json <document | sed -n '/"entry_count"/,$p'
