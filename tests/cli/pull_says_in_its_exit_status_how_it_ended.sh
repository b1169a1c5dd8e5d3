# SPDX-License-Identifier: Apache-2.0
cache cache
{
	tkbundle push a cache --remote remote --key 5DJU
	tkbundle push a cache --remote remote --key QTEE
	tkbundle push a cache --remote remote
} >words
# sizes and digests are zstd's
pull() {
	echo "\$ pull $*"
	status=0
	tkbundle pull "$@" >out 2>errors || status=$?
	sed 's/[0-9a-f]\{64\}/$DIGEST/' out
	sed 's/[0-9a-f]\{64\}/$DIGEST/; s/^/2> /' errors
	[ $status -eq 0 ] || echo "exit $status"
	status=0
	tkbundle pull "$@" --best-effort >out 2>&1 || status=$?
	[ $status -eq 0 ] || echo "exit $status, for all its effort"
	rm -rf warm
}
pull absent warm --remote remote
pull a warm --remote redis://127.0.0.1:1
pull a warm --remote 'redis://127.0.0.1:1?on-error=ignore,remote'
pull a warm --remote redis://127.0.0.1:1,remote
pull a words/warm --remote remote

# Gone, then torn.
smallest=$(find remote/cas -type f -printf '%s %p\n' | sort -n | sed 's/.* //; q')
mv "$smallest" blob
pull a warm --remote remote
cp blob "$smallest"
damage "$smallest" 100
pull a warm --remote remote
cp blob "$smallest"
pull a warm --remote remote

# Somebody is writing there, or a file is in the way.
mkdir -p warm/5DJUWXT22BVRYP25OPBYUCN7RE5SDRYAU5FI7SUCRVLO5BOTFZXA
echo >warm/5DJUWXT22BVRYP25OPBYUCN7RE5SDRYAU5FI7SUCRVLO5BOTFZXA/tmp.pid_1_2
pull a warm --remote remote
mkdir warm
echo >warm/5DJUWXT22BVRYP25OPBYUCN7RE5SDRYAU5FI7SUCRVLO5BOTFZXA
pull a warm --remote remote
