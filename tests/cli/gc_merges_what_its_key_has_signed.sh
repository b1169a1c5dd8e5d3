# SPDX-License-Identifier: Apache-2.0
cache cache
key ci.pem
printf '%s\n' 'ci.key = ci.pem.pub' 'ci.publish = *' >policy
export TKBUNDLE_REMOTE=remote

# 33 kernels, each a record of its own.
mkdir many
first=$(ls cache | head -n 1)
for digit in A B C D E F G H I J K L M N O P Q R S T U V W X Y Z 2 3 4 5 6 7; do
	mkdir "many/$digit${first#?}"
	printf '{"n":"%s"}' "$digit" >"many/$digit${first#?}/kernel.autotune.json"
done
mkdir "many/AA${first#??}"
echo '{}' >"many/AA${first#??}/kernel.autotune.json"
for key in $(ls many); do
	tkbundle push m many --key "$key" --no-compaction --sign ci.pem >/dev/null
done
try_line "tkbundle gc --remote - | sed 's/(.*//'"
try_line "tkbundle gc --remote - --sign ci.pem | sed 's/([^)]*)//g'"
try tkbundle pull m warm --trust policy
try tkbundle gc --remote - --expires 3d
try tkbundle gc cache --max-entries 1 --sign ci.pem
try tkbundle gc --remote - --sign none.pem
