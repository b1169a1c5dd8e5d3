#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Hold the program against snapshots.
#
#     run.sh [--update] PROGRAM [CASE]...
#
# A case is a file <sentence>.sh beside this one. It runs in an empty folder of
# its own, which goes away with it. What it prints and how it ends must be
# what <sentence>.stdout, .stderr and .exit say; one that is not there stands
# for nothing, or for 0. --update writes them as they are now: read the diff.
# Prints TAP; the exit status is 1 if a case failed.
#
# A case is plain POSIX sh under `set -eu`, with `tkbundle` on the PATH and:
#
#     fixture NAME FOLDER   unpack fixtures/NAME.tar.gz
#     cache FOLDER          the Triton cache root that most cases use
#     slow_cache FOLDER N   a root of N entries that take a while, 4 MB each
#     try COMMAND...        a command that may fail, as a transcript on stdout:
#                           "$ " it, its output, "2> " its errors, its status
#     try_line TEXT         the same for a line of shell
#     json                  print the document on standard input in many lines
#     outline               the same without the entries in it
#     each_root COMMAND...  run it with the home's root, then with others in the
#                           variables: ./other, ./inductor and ./triton
#     damage FILE [OFFSET]  flip a byte, counted from the file's end
#     powerless COMMAND...  run it bound by permissions, as root is not
#     need_modules          skip the case where the fixtures' modules do not fit
#     skip REASON           end the case: it cannot be told here
#     need_own_processes    skip the case where an emulator runs all programs:
#                           its own words are in /proc, and a program that is
#                           missing is started all the same, and exits with 127
#     key WORD...           make a key, see `tkbundle key new`, and say nothing
#     key_id FILE           the identity of a key
#     trust NAME RIGHT WORD...
#                           make key NAME.pem, and note it in ./policy with
#                           RIGHT, such as "publish = *"
#     save ROOT FILE WORD...
#                           pack launchers, see ../program/save.c; without
#                           $TKB_SAVE, which names that program, skip

here=$(cd "$(dirname "$0")" && pwd -P)
is_update=false
if [ "${1-}" = --update ]; then
	is_update=true
	shift
fi
if [ $# -eq 0 ]; then
	echo "usage: run.sh [--update] PROGRAM [CASE]..." >&2
	exit 2
fi
program=$(cd "$(dirname "$1")" && pwd -P)/$(basename "$1")
shift
if [ ! -x "$program" ]; then
	echo "run.sh: there is no program '$program'" >&2
	exit 2
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/tkbundle-cli.XXXXXX") || exit 1
work=$(cd "$work" && pwd -P)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

mkdir "$work/bin" "$work/fixture"
ln -s "$program" "$work/bin/tkbundle"
tar -xzf "$here/../../fixtures/triton-3.6.0-cpu.tar.gz" -C "$work/fixture"
packer=${TKB_SAVE-}
python=$(python3 -c 'import sys; print(sys.executable)') || exit 1

# What the program looks at, and what its words could depend on.
unset TRITON_CACHE_DIR TRITON_HOME TORCHINDUCTOR_CACHE_DIR
unset CUDA_HOME CUDA_PATH TRITON_PTXAS_PATH TRITON_NVDISASM_PATH
unset TRITON_PTXAS_BLACKWELL_PATH TRITON_LIBDEVICE_PATH
unset TERM XDG_CONFIG_HOME XDG_STATE_HOME
unset REQUESTS_CA_BUNDLE CURL_CA_BUNDLE SSL_CERT_FILE SSL_CERT_DIR
# shellcheck disable=SC2046 # one word each
unset $(env | sed -n 's/^\(TKBUNDLE_[A-Za-z0-9_]*\)=.*/\1/p')
export TKBUNDLE_CONFIG=/dev/null TKBUNDLE_GPU=
export LC_ALL=C TZ=UTC PATH="$work/bin:$PATH"
umask 022

fixture() {
	mkdir -p "$2"
	tar -xzf "$here/../../fixtures/$1.tar.gz" -C "$2"
}

cache() {
	case $1 in
	*/*) mkdir -p "${1%/*}" ;;
	esac
	cp -a "$work/fixture/.triton/cache" "$1"
}

slow_cache() {
	mkdir "$1"
	{
		printf '{"timings":"'
		head -c 4000000 /dev/zero | tr '\0' 1
		printf '"}'
	} >timings
	for number in $(seq "$2"); do
		key=$(echo "$number" | sha256sum | tr 0-9a-f A-P | head -c 52)
		mkdir "$1/$key"
		ln timings "$1/$key/kernel.autotune.json"
	done
	rm timings
}

report() {
	[ ! -s "$own/errors" ] || sed 's/^/2> /' "$own/errors"
	[ "$1" -eq 0 ] || echo "exit $1"
}

try() {
	echo "\$ $*"
	status=0
	"$@" 2>"$own/errors" || status=$?
	report $status
}

try_line() {
	echo "\$ $1"
	status=0
	eval "$1" 2>"$own/errors" || status=$?
	report $status
}

json() {
	"$python" -ISc 'import json, sys
print(json.dumps(json.load(sys.stdin), indent=4))'
}

outline() {
	json | grep -v '^     '
}

each_root() {
	"$@"
	for setting in TRITON_HOME=other TORCHINDUCTOR_CACHE_DIR=inductor \
		TRITON_CACHE_DIR=triton; do
		export "${setting%=*}=$PWD/${setting#*=}"
		"$@"
	done
}

damage() {
	"$python" -IS - "$1" "${2-3000}" <<-'END'
	import sys
	with open(sys.argv[1], "r+b") as file:
	    file.seek(-int(sys.argv[2]), 2)
	    byte = file.read(1)[0]
	    file.seek(-1, 1)
	    file.write(bytes([byte ^ 1]))
	END
}

powerless() {
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --inh-caps=-all --bounding-set=-all "$@"
	else
		"$@"
	fi
}

skip() {
	echo "$1" >"$own/skipped"
	exit 0
}

need_modules() {
	libc=$(getconf GNU_LIBC_VERSION) || libc=
	[ "$(uname -m)" = x86_64 ] && [ -n "$libc" ] &&
		printf 'glibc 2.34\n%s\n' "$libc" | sort -C -V ||
		skip "modules of the fixtures are for x86_64 and glibc 2.34"
}

need_own_processes() {
	sleep 60 &
	shown=$(tr '\0' ' ' <"/proc/$!/cmdline")
	kill $!
	case $shown in
	*/*sleep*) skip "an emulator runs all programs here" ;;
	esac
}

key() {
	tkbundle key new "$@" >/dev/null
}

key_id() {
	tkbundle key show "$1" --json | sed 's/.*"id":"\([0-9a-f]*\)".*/\1/'
}

trust() {
	printf '%s.key = %s.pem.pub\n%s.%s\n' "$1" "$1" "$1" "$2" >>policy
	trusted=$1.pem
	shift 2
	key "$trusted" "$@"
}

save() {
	[ -n "$packer" ] || skip "there is no tests/program/save"
	"$packer" "$@"
}

# Replace in file $1 what differs between machines: paths, and sizes that zstd
# decides.
# shellcheck disable=SC2016 # $TMP and the others are meant as they stand
normalize() {
	[ ! -s "$1" ] || sed -i -e "s|$own/case|\$TMP|g" \
		-e 's/record [0-9a-f]\{12\} of/record $RECORD of/' \
		-e 's/\( into .*\) ([0-9.]* k*M*B)/\1 ($SIZE)/' \
		-e 's/\( [1-9][0-9]* blobs*\) ([0-9.]* k*M*B)/\1 ($SIZE)/' \
		-e 's/\("\(bundle\|uploaded\|fetched\)_size": \)[1-9][0-9]*/\1$SIZE/' "$1"
}

run_case() {
	(
		cd "$own/case" || exit 1
		export HOME="$own/case/home"
		set -eu
		# shellcheck source=/dev/null
		. "$1"
	) >"$own/got.stdout" 2>"$own/got.stderr" </dev/null
	echo $? >"$own/got.exit"
	normalize "$own/got.stdout"
	normalize "$own/got.stderr"
}

# Is what the case gave as $1 what is meant where there is no file?
is_default() {
	case $1 in
	exit) [ "$(cat "$own/got.exit")" = 0 ] ;;
	*) [ ! -s "$own/got.$1" ] ;;
	esac
}

update() {
	for kind in stdout stderr exit; do
		rm -f "$1.$kind"
		is_default $kind || cp "$own/got.$kind" "$1.$kind"
	done
}

compare() {
	is_same=true
	for kind in stdout stderr exit; do
		wanted=$1.$kind
		if [ ! -e "$wanted" ]; then
			is_default $kind && continue
			wanted=/dev/null
		elif cmp -s "$wanted" "$own/got.$kind"; then
			continue
		fi
		is_same=false
		diff -u -L "wanted $kind" -L "got $kind" "$wanted" \
			"$own/got.$kind" | sed 's/^/# /'
	done
	$is_same
}

# Run case NAME, which is number NUMBER of all, and report.
judge() {
	own=$work/$1
	sentence=$(echo "$2" | tr _ ' ')
	mkdir "$own" "$own/case"
	run_case "$here/$2.sh"

	if [ -e "$own/skipped" ]; then
		echo "ok $1 - $sentence # SKIP $(cat "$own/skipped")"
	elif $is_update && update "$here/$2" || compare "$here/$2"; then
		echo "ok $1 - $sentence"
	else
		echo "not ok $1 - $sentence"
	fi
	rm -rf "$own"
}

# Judge the cases that no other worker has taken yet.
work_on_cases() {
	number=0
	for name in "$@"; do
		number=$((number + 1))
		set -C
		if true 2>/dev/null >"$work/taken.$number"; then
			set +C
			name=${name##*/}
			judge $number "${name%.sh}" >"$work/report.$number"
		fi
		set +C
	done
}

if [ $# -eq 0 ]; then
	for path in "$here"/*.sh; do
		[ "${path##*/}" = run.sh ] || set -- "$@" "$path"
	done
fi

for name in "$@"; do
	name=${name##*/}
	if [ ! -e "$here/${name%.sh}.sh" ]; then
		echo "run.sh: there is no case '$name'" >&2
		exit 2
	fi
done

for worker in $(seq "$(nproc)"); do
	work_on_cases "$@" &
done
wait

echo "1..$#"
for number in $(seq $#); do
	cat "$work/report.$number"
done
! cat "$work"/report.* | grep -q '^not ok'
