#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Prove that ./bootstrap demo and ./bootstrap test do, on a Debian 12 that has
# nothing, what the README says of them.
#
#     bare.sh FOLDER
#
# The Debian is mmdebstrap's minbase; of this machine it gets the way to the
# network (names, apt's sources, pip's settings, proxies, authorities), and a
# clone of the commit that is checked out here. There root runs both verbs, and
# a user who owns nothing, without a network, the tests that were built. It
# takes root, or a user with user namespaces and subordinate ids; half an hour;
# and 4 GB in $TMPDIR or /var/tmp, which go away. The bare Debian itself is kept
# in FOLDER for the next time. What the verbs print is in FOLDER/*.log.
# shellcheck disable=SC2317  # functions are called by name
set -euo pipefail

if [ $# -ne 1 ]; then
	echo "usage: bare.sh FOLDER" >&2
	exit 2
fi
mkdir -p "$1"
folder=$(cd "$1" && pwd -P)
source=$(cd "$(dirname "$0")/../.." && pwd -P)
minbase=$folder/minbase.tar
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"
umask 022

say() {
	printf '\n== %s\n' "$*"
}

# Who is not root, is it in a namespace of his own.
as_root=()
if [ "$(id -u)" -ne 0 ]; then
	as_root=(unshare --user --map-auto --map-root-user --)
	"${as_root[@]}" true 2>/dev/null || {
		echo "bare.sh: run it as root: this user has no subordinate" \
			"ids (/etc/subuid), or this machine no user namespaces" >&2
		exit 1
	}
fi

work=$(mktemp -d "${TMPDIR:-/var/tmp}/tkbundle-bare.XXXXXX")
# apt fetches as a user of its own.
chmod 711 "$work"
root=$work/root
child=
ending=

# What still runs has to end first; files may appear a moment longer.
clean_up() {
	local try

	if [ -n "$child" ]; then
		kill "-$ending" "$child" 2>/dev/null || true
		wait "$child" 2>/dev/null || true
	fi
	for try in 1 2 3 4 5; do
		"${as_root[@]}" rm -rf --one-file-system "$work" 2>/dev/null &&
			return
		sleep "$try"
	done
	echo "bare.sh: cannot remove $work" >&2
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# attended SIGNAL COMMAND...: signals are heard while the command runs, and SIGNAL
# is what ends it.
attended() {
	local status=0

	ending=$1
	shift
	"$@" &
	child=$!
	wait "$child" || status=$?
	child=
	return "$status"
}

# apt's sources of this machine, if they are of this Debian; else mmdebstrap's.
list_sources() {
	local file

	grep -qx 'VERSION_CODENAME=bookworm' /etc/os-release || return 0
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list \
		/etc/apt/sources.list.d/*.sources; do
		[ ! -s "$file" ] || echo "$file"
	done
}

make_minbase() {
	local sources=()

	[ -z "$(find "$minbase" -mtime -30 2>/dev/null)" ] || return 0
	mapfile -t sources < <(list_sources)
	attended TERM env TMPDIR="$work" mmdebstrap --quiet --variant=minbase \
		bookworm "$work/new.tar" "${sources[@]}"
	mv "$work/new.tar" "$minbase"
}

unpack_minbase() {
	mkdir "$root"
	"${as_root[@]}" tar -xf "$minbase" -C "$root" --numeric-owner \
		--exclude='./dev/*'
}

# copy_in FILE...: what of these there is, to the same place.
copy_in() {
	local file

	for file in "$@"; do
		[ -e "$file" ] || continue
		"${as_root[@]}" mkdir -p "$root$(dirname "$file")"
		"${as_root[@]}" cp -r -L --no-preserve=ownership "$file" \
			"$root$(dirname "$file")/"
	done
}

# How this machine reaches the network.
copy_network() {
	local keys=()

	mapfile -t keys < <(list_sources | xargs -r grep -h -o -i \
		'signed-by[:=] *[^] ]*' | sed 's/^[^:=]*[:=] *//' | sort -u)
	copy_in /etc/resolv.conf /etc/hosts /etc/ssl/certs \
		/usr/local/share/ca-certificates /etc/apt/auth.conf \
		/etc/apt/auth.conf.d /etc/apt/keyrings /etc/apt/trusted.gpg.d \
		"${keys[@]}" /etc/pip.conf /etc/xdg/pip/pip.conf
	"${as_root[@]}" mkdir -p "$root/root/.config/pip"
	cat ~/.pip/pip.conf ~/.config/pip/pip.conf "${PIP_CONFIG_FILE:-}" \
		2>/dev/null | "${as_root[@]}" tee "$root/root/.config/pip/pip.conf" \
		>"$work/nothing" || true
	apt-config dump | grep -E '^Acquire::(https?::|Check-)' |
		"${as_root[@]}" tee "$root/etc/apt/apt.conf.d/99network" \
		>"$work/nothing" || true
}

clone() {
	git clone -q --no-hardlinks --no-checkout "$source" "$work/clone"
	git -C "$work/clone" checkout -q --detach "$commit"
	"${as_root[@]}" cp -r --no-preserve=ownership "$work/clone" \
		"$root/tkbundle"
}

# Runs in the namespaces, as its root; $1 is the folder, the rest a command.
# Its first process stays root, and buries the dead.
# shellcheck disable=SC2016  # the inner shell expands it
enter='
	root=$1 alone=$2
	shift 2
	mount -t tmpfs -o mode=755 tmpfs "$root/dev" || exit 1
	for node in null zero full random urandom tty; do
		: >"$root/dev/$node"
		mount --bind "/dev/$node" "$root/dev/$node" || exit 1
	done
	mkdir "$root/dev/pts" "$root/dev/shm"
	ln -s pts/ptmx "$root/dev/ptmx"
	ln -s /proc/self/fd "$root/dev/fd"
	for number in 0 1 2; do
		ln -s "/proc/self/fd/$number" "$root/dev/$(
			echo stdin stdout stderr | cut -d" " -f$((number + 1)))"
	done
	mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts" &&
		mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm" &&
		mount -t proc proc "$root/proc" &&
		mount --rbind /sys "$root/sys" || exit 1
	[ -z "$alone" ] || ip link set lo up || exit 1
	chroot "$root" /usr/bin/env -i "$@"
	exit $?'

# inside UNSHARE_OPTION... -- [NAME=VALUE]... COMMAND...
inside() {
	local options=() variables=() alone=

	while [ "$1" != -- ]; do
		[ "$1" != --net ] || alone=yes
		options+=("$1")
		shift
	done
	shift
	mapfile -t variables < <(env | grep -E \
		'^((https?|no|all)_proxy|(HTTPS?|NO|ALL)_PROXY|PIP_(CERT|INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|PROXY|DEFAULT_TIMEOUT|RETRIES))=')
	# With the first process of its namespace dies all that it started,
	# and with these go the mounts.
	attended KILL unshare ${as_root[0]:+--user --map-auto --map-root-user} \
		--mount --pid --ipc --uts --fork --kill-child "${options[@]}" \
		-- sh -c "$enter" sh "$root" "$alone" "${variables[@]}" \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		"$@"
}

# Megabytes that the root takes.
taken() {
	"${as_root[@]}" du -smx "$root" | cut -f1
}

# Megabytes that apt and pip fetched, as these logs of theirs have it.
fetched() {
	cat "$@" 2>/dev/null | sed -nE \
		-e 's/^Fetched ([0-9.,]+) ([kMG]?B) .*/\1 \2/p' \
		-e 's/^.* Downloading .*\(([0-9.,]+) ([kMG]?B)\)$/\1 \2/p' |
		awk 'BEGIN { size["B"] = 1e-6; size["kB"] = 1e-3
			     size["MB"] = 1; size["GB"] = 1e3 }
		     { gsub(",", "", $1); sum += $1 * size[$2] }
		     END { printf "%d\n", sum + 0.5 }'
}

# step NAME inside...: run it, and say what it took.
step() {
	local name=$1 log=$folder/$1.log status=0 before start

	shift
	say "$name"
	before=$(taken)
	start=$SECONDS
	rm -f "$log"
	"$@" >"$log" 2>&1 || status=$?
	tail -n 12 "$log"
	printf -- '-- %s: exit %d, %d min %d s, fetched %d MB, took %d MB\n' \
		"$name" "$status" $(((SECONDS - start) / 60)) \
		$(((SECONDS - start) % 60)) \
		"$(fetched "$log" "$root/tmp/pip-$name.log")" \
		$(($(taken) - before))
	return "$status"
}

# All is read before anything runs: the tree may change meanwhile.
# shellcheck disable=SC2016  # the inner shell expands it
main() {
	local status=0 verb

	commit=$(git -C "$source" rev-parse HEAD)
	git -C "$source" diff --quiet HEAD ||
		echo "bare.sh: what is not committed is left out" >&2
	say "a bare Debian 12"
	make_minbase
	unpack_minbase
	copy_network
	clone
	"${as_root[@]}" chroot "$root" useradd --no-create-home \
		--home-dir /nonexistent plain
	"${as_root[@]}" chroot "$root" install -d -o plain /var/tmp/plain
	for verb in demo test; do
		step "$verb" inside -- HOME=/root \
			PIP_LOG="/tmp/pip-$verb.log" \
			sh -c "cd /tkbundle && ./bootstrap $verb" || status=1
	done
	step plain inside --net -- HOME=/nonexistent TMPDIR=/var/tmp/plain \
		PATH=/usr/local/bin:/usr/bin:/bin \
		sh -c 'cd /tkbundle && setpriv --reuid=plain --regid=plain \
			--clear-groups -- python3 -B tests/run_tests.py \
			build/release "$(nproc)"; exit $?' || status=1
	return "$status"
}

main
exit
