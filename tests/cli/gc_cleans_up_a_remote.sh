# SPDX-License-Identifier: Apache-2.0
hide() {
	sed 's/([1-9][0-9.]* k*M*B)/($SIZE)/g; s/\("[a-z]*_*size": \)[1-9][0-9]*/\1$SIZE/; s/[0-9a-f]\{64\}/$DIGEST/'
}
gc() {
	echo "\$ gc $*"
	tkbundle gc --remote remote "$@" 2>&1 | hide
}
cache cache
{
	tkbundle push a cache --remote remote
	tkbundle push b cache --remote remote --key 5DJU
} >words
gc
gc --max-age 30d
touch -d '40 days ago' remote/ref/a/* remote/cas/*/*
gc --max-age 30d -n
tkbundle gc --remote remote --max-age 30d --json -n | json | hide
gc --max-age 30d
gc --max-age 30d
gc --max-size 0 -n
tkbundle gc --remote remote --max-size 0 --json | json | hide
gc --max-size 0

try tkbundle gc cache --remote remote
try tkbundle gc --remote remote --max-entries 3
try tkbundle gc cache --max-entries 9 --metrics file
try tkbundle gc cache --max-entries 9 --deadline 1s
try tkbundle gc --remote 'remote?mode=ro'
# A configured remote is not meant, unless it is asked for.
export TKBUNDLE_REMOTE=remote
try tkbundle gc cache
mkdir home home/.triton
mv cache home/.triton/cache
try_line 'HOME=$PWD/home tkbundle gc'
try_line 'HOME=$PWD/home tkbundle gc --max-entries 9'
try_line 'TKBUNDLE_DISABLE=1 tkbundle gc --max-entries 9'
echo 'remote = remote' >file
try_line 'HOME=$PWD/home TKBUNDLE_REMOTE= TKBUNDLE_CONFIG=file tkbundle gc --max-entries 9'
try_line 'TKBUNDLE_REMOTE= HOME=$PWD/home tkbundle gc --max-entries 9'
try_line 'tkbundle gc --remote - | hide'
