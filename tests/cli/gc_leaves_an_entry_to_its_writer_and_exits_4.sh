# SPDX-License-Identifier: Apache-2.0
cache cache
touch -d '1 day ago' cache/*/*
touch -d '2 days ago' cache/5D*/__grp__*
mkdir "$(echo cache/5D*)/tmp.pid_1_abc"
remove() {
	tkbundle gc cache --max-entries 3 "$@"
}
try remove -n | sed 's/, use unknown//'
try remove | sed 's/, use unknown//'
try_line 'remove --json --max-entries=2 -n 2>/dev/null >document'
json <document | grep -e busy -e '"kept"'
touch -d '20 minutes ago' cache/5D*/tmp.pid_1_abc
try remove --max-entries 2 | sed 's/, use unknown//'
find cache/5D* | sed 's|.*/||'
