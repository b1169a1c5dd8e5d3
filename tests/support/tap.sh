# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# What a script that prints TAP is made of, which sources it:
#
#     . "$(dirname "$0")/../support/tap.sh"
#     begin NAME
#     holds SENTENCE COMMAND...
#     ended

number=0
failed=0
export LC_ALL=C

# Make $work, a folder that goes away with the script $1.
begin() {
	work=$(mktemp -d "${TMPDIR:-/tmp}/tkbundle-$1.XXXXXX") || exit 1
	work=$(cd "$work" && pwd -P)
	trap 'rm -rf --one-file-system "$work"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
}

passed() {
	number=$((number + 1))
	echo "ok $number - $1"
}

missed() {
	number=$((number + 1))
	failed=$((failed + 1))
	echo "not ok $number - $1"
}

skipped() {
	passed "$1 # SKIP $2"
}

# Sentence $1 holds if the rest, a command, succeeds; what it says is in
# $work/said, and shown if it fails.
holds() {
	sentence=$1
	shift
	if "$@" >"$work/said" 2>&1; then
		passed "$sentence"
		return 0
	fi
	missed "$sentence"
	sed 's/^/# /' "$work/said"
	return 1
}

# Fails if the command prints anything, and shows it.
nothing() {
	! "$@" | grep .
}

# The script's last line: it fails if a sentence did not hold.
ended() {
	echo "1..$number"
	[ "$failed" -eq 0 ]
}
