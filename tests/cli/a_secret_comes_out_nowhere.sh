# SPDX-License-Identifier: Apache-2.0
# Whatever is wrong with a URL, or with its place: nobody gets to read it.
cache cache
run() {
	status=0
	tkbundle "$@" >out 2>&1 || status=$?
	cat out >>all
	printf '%s: ' "$status"
	sed 's/ *$//' out | tail -n 1
}
word() {
	echo "# $1"
	for verb in push pull refs gc; do
		set -- "$1" "$verb"
		case $verb in
		push) set -- "$@" a cache ;;
		pull) set -- "$@" a warm ;;
		refs) set -- "$@" ;;
		gc) set -- "$@" --max-age 1d ;;
		esac
		url=$1
		shift
		run "$@" --remote "$url" --json
		run "$@" "--remote=$url"
		set -- "$url"
	done
}
word 'redis://user:s3cret@127.0.0.1:1/0?prefix=s3cret'
word 'redis://:s3cret@127.0.0.1:1,ftp://:s3cret@host'
word 'rediss://user:s3cret@127.0.0.1:1?cafile=s3cret'
word 'redis://user:s3cret@[::1'
word 'redis://user:s3cret@host:port'
word 'redis://user:a@s3cret@host'
word 'redis://user:s3cret@host?a=s3cret'
word 'redis://user:s3cret%@host'
word '://user:s3cret@host'
word 'redis://user:s3cret@host#s3cret'
word 'redis:/user:s3cret@host'
word 'Redis:/user:s3cret@host'

echo '# elsewhere'
run pull redis://user:s3cret@host
run pull a redis://user:s3cret@host
run pull a warm redis://user:s3cret@host
run refs redis://user:s3cret@host
run gc redis://user:s3cret@host --max-age 1d
run push a --remote
run pull a --remote one --remote redis://user:s3cret@127.0.0.1:1
TKBUNDLE_REMOTE=redis://user:s3cret@127.0.0.1:1
export TKBUNDLE_REMOTE
run pull a
run config
run config --json
run pull a --metrics file --best-effort
cat file >>all
[ -s all ]
! grep s3cret all
