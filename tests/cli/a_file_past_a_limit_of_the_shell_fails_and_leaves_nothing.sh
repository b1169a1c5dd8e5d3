# SPDX-License-Identifier: Apache-2.0
# In blocks of 512 or 1024 bytes: more than a message, and less than a bundle.
limited() {
	(
		ulimit -f 12
		exec "$@"
	)
}
cache cache
tkbundle collect cache -o a.tkb >words
tkbundle push a cache --remote remote >words
try limited tkbundle collect cache -o b.tkb
try limited tkbundle merge a.tkb -o b.tkb
try limited tkbundle pull a -o b.tkb --remote remote
try limited tkbundle push b --bundle a.tkb --remote other 2>&1 | sed 's|cas/../[0-9a-f]*|cas/$DIGEST|'
try limited tkbundle report a.tkb -o page.html
(
	ulimit -f 0
	exec tkbundle key new key.pem
) 2>&1 | cat
find . -type f | grep -v -e '^./cache' -e '^./remote' -e '^./words'

# A command that run starts is killed by the signal, as it would be without tkbundle.
try_line 'limited tkbundle run --ref a --remote remote --cache out -- \
	dd if=/dev/zero of=big bs=1k count=13 2>words'
