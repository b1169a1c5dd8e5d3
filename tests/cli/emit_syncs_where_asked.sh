# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
try tkbundle emit a.tkb out --sync
try tkbundle verify out

# A sanitizer's leak check and strace exclude each other.
export ASAN_OPTIONS=detect_leaks=0
traced() {
	strace -f -o trace -e trace=syncfs,sync,fsync tkbundle emit a.tkb "$@" \
		>/dev/null
	echo "$* syncs $(grep -c 'sync[a-z]*(' trace || true) times"
}
strace -o trace true 2>/dev/null || skip "there is no strace, or it may not"
traced one
traced two --sync
