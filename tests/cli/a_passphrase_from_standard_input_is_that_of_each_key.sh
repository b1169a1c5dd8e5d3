# SPDX-License-Identifier: Apache-2.0
cache cache
export TKBUNDLE_REMOTE=remote
echo secret >word
for name in one two; do
	tkbundle key new $name.pem --passphrase-file word >/dev/null
done
try_line 'echo secret | tkbundle push a cache --sign one.pem --sign two.pem --passphrase-file -'
try_line 'cat word | tkbundle sign a --key one.pem --key two.pem --all --passphrase-file -'
try_line 'echo other | tkbundle sign a --key one.pem --key two.pem --all --passphrase-file -'
