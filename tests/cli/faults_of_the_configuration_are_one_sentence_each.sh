# SPDX-License-Identifier: Apache-2.0
export TKBUNDLE_CONFIG=file
config() {
	printf '# %s\n' "$1"
	# shellcheck disable=SC2059 # it is a format
	printf "$1" >file
	status=0
	tkbundle config >values 2>words || status=$?
	sed 's/^/2> /' words
	echo "exit $status"
}
config 'remote\n'
config 'ref = a\n\n# more\nremoet = redis://:secret@host\n'
config 'ref = a\nref = b\n'
config 'ref =\n'
config '= value\n'
config 'redis://:secret@host?ttl=3\n'
config 'timeout = redis://:secret@host\n'
config 'timeout = 5\n'
config 'timeout = 0ms\n'
config 'timeout = 25h\n'
config 'wait = -1s\n'
config 'push = sometimes\n'
config 'push = always|never\n'
config 'Ref = a\n'
config 'engine-ref = {engine}/{gpu}\n'
config 'engine-ref = {engine/a\n'
config 'remote = redis://:secret@host:99999\n'
config 'remote = ftp://:secret@host\n'
config 'remote = redis://:secret@host?nonsense=secret\n'
config 'remote = redis://:secret@host?timeout=nonsense\n'
config 'ref = a\0b\n'

# What makes sense is shown all the same, and all that does not is not lost.
printf 'nonsense\nref = a\ntimeout = 5\n' >file
try tkbundle config
try_line 'tkbundle config --json | json | grep -A5 -e ref -e error'
try env TKBUNDLE_TIMEOUT=5 tkbundle pull a --remote remote
try tkbundle push a --remote remote
try tkbundle refs --remote remote
try tkbundle gc --remote remote
try tkbundle pull a --remote remote --best-effort
rm file
try tkbundle pull a --remote remote
mkdir file
try tkbundle pull a --remote remote
rmdir file
mkfifo file
try tkbundle pull a --remote remote
rm file
head -c 70000 /dev/zero | tr '\0' '#' >file
try tkbundle pull a --remote remote

export TKBUNDLE_CONFIG=/dev/null
try env TKBUNDLE_TIMEOUT=5 tkbundle pull a --remote remote
try env TKBUNDLE_PUSH=sometimes tkbundle pull a --remote remote
