#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Prove the Debian packages on a Debian 12 that has nothing else.
#
#     packages.sh FOLDER
#
# FOLDER holds the six of one version. mmdebstrap makes the Debian, from the
# sources that this machine's apt has, in $TMPDIR or /tmp; it takes a minute or
# two and 0.5 GB, and goes away. Needs root and the network. Prints TAP.

if [ $# -ne 1 ]; then
	echo "usage: packages.sh FOLDER" >&2
	exit 2
fi
if [ "$(id -u)" -ne 0 ]; then
	echo "packages.sh: only root can make a Debian" >&2
	exit 1
fi
folder=$(cd "$1" && pwd -P) || exit 2
source=$(cd "$(dirname "$0")/../.." && pwd -P)
packages="libtkbundle1 libtkbundle-remote1 libtkbundle-dev"
packages="$packages tkbundle tkbundle-archive tkbundle-compile"

umask 022
# shellcheck source=tests/support/tap.sh
. "$(dirname "$0")/../support/tap.sh"
begin packages
root=$work/root

# Without the rest, the others make no sense.
needed() {
	holds "$@" || { echo "1..$number"; exit 1; }
}

field() {
	dpkg-deb --field "$folder/$1"_*.deb "$2"
}

one_version() {
	version=$(field libtkbundle1 Version)
	for package in $packages; do
		test "$(field "$package" Version)" = "$version" &&
			test "$(field "$package" Package)" = "$package" ||
			return 1
	done
}

# They fit each other in one version alone.
depend_exactly() {
	for package in tkbundle libtkbundle-dev; do
		field $package Depends >"$work/depends"
		grep -F "libtkbundle1 (= $version)" "$work/depends" &&
			grep -F "libtkbundle-remote1 (= $version)" \
				"$work/depends" || return 1
	done
	field libtkbundle-remote1 Depends |
		grep -F "libtkbundle1 (= $version)"
}

# Who only reads bundles gets neither an HTTP client nor a Redis client.
needs_little() {
	! field libtkbundle1 Depends |
		grep -E 'libcurl|libhiredis|libexpat|tkbundle-remote'
}

dev_has_both() {
	dpkg-deb --contents "$folder"/libtkbundle-dev_*.deb >"$work/dev.list"
	grep 'libtkbundle\.a$' "$work/dev.list" &&
		grep 'libtkbundle\.so -> ' "$work/dev.list" &&
		grep 'libtkbundle-remote\.a$' "$work/dev.list" &&
		grep 'libtkbundle-remote\.so -> ' "$work/dev.list" &&
		grep 'tkbundle-static-targets\.cmake$' "$work/dev.list"
}

foreign_files() {
	for package in $packages; do
		dpkg-deb --contents "$folder/$package"_*.deb
	done | grep -v -E '^(d|-)rwxr-xr-x root/root |^-rw-r--r-- root/root |^l'
}

needed "there is one package of each, of one version" one_version
holds "they depend on each other in that version" depend_exactly
holds "the library for bundles needs none for remotes" needs_little
holds "the one for building has static libraries, too" dev_has_both
holds "all belongs to root and can be read by all" nothing foreign_files
if command -v lintian >/dev/null; then
	# There is no address of ours that is not made up.
	holds "lintian finds no error" lintian \
		--suppress-tags bogus-mail-host \
		--suppress-tags bogus-mail-host-in-debian-changelog \
		"$folder"/tkbundle_*.deb "$folder"/libtkbundle1_*.deb \
		"$folder"/libtkbundle-remote1_*.deb \
		"$folder"/libtkbundle-dev_*.deb \
		"$folder"/tkbundle-archive_*.deb \
		"$folder"/tkbundle-compile_*.deb
else
	number=$((number + 1))
	echo "ok $number - lintian finds no error # SKIP there is none"
fi

make_debian() {
	set --
	for sources in /etc/apt/sources.list /etc/apt/sources.list.d/*.list \
		/etc/apt/sources.list.d/*.sources; do
		[ ! -e "$sources" ] || set -- "$@" "$sources"
	done
	mmdebstrap --variant=minbase --mode=root bookworm "$root" "$@" &&
		cp -L /etc/resolv.conf "$root/etc/resolv.conf" || return 1
	# How this machine reaches the archive.
	apt-config dump | grep -E '^Acquire::(https?::|Check-)' \
		>"$root/etc/apt/apt.conf.d/99host"
	[ ! -d /etc/ssl/certs ] || cp -r -L /etc/ssl/certs "$root/etc/ssl/"
	mkdir "$root/work"
	cp "$folder"/*.deb "$source/fixtures/triton-3.6.0-h100.tar.gz" \
		"$source/tests/install/consumer/consumer.c" "$source"/examples/embed/* \
		"$root/work"
}

# Runs a line of shell there. The mounts are gone when it ends.
inside() {
	# shellcheck disable=SC2016  # the inner shell expands it
	unshare --mount --pid --fork -- sh -c '
		mount --rbind /dev "$1/dev" &&
		mount --rbind /sys "$1/sys" &&
		mount -t proc proc "$1/proc" &&
		exec chroot "$1" /usr/bin/env -i HOME=/root LC_ALL=C \
			PATH=/usr/sbin:/usr/bin:/sbin:/bin \
			DEBIAN_FRONTEND=noninteractive sh -c "cd /work; $2"
		' sh "$root" "$1"
}

# Every path that a package can have left.
paths() {
	(cd "$root" && find . -xdev \( -path ./work -o -path ./tmp -o \
		-path ./var/cache -o -path ./var/log -o -path ./var/lib/apt -o \
		-name '*-old' \) -prune -o -print) | sort
}

installs() {
	inside "apt-get install -y -q --no-install-recommends $1"
}

news() {
	sed -n '/^The following NEW packages/,/^[^ ]/p' "$work/said" |
		sed -n 's/^  */# needs /p'
}

needed "mmdebstrap makes a Debian 12" make_debian
needed "it reads its archive" inside "apt-get update -q"
paths >"$work/before"

needed "the packages install" installs './*.deb'
news
holds "what they hold is as they say" inside "dpkg --verify $packages"
holds "the program runs" inside 'tkbundle --version | grep -x "tkbundle .*"'
holds "it knows its libraries" inside 'tkbundle --version --verbose'
sed 's/^/# /' "$work/said"

packs_and_puts_back() {
	inside '
		set -e
		tar -xzf triton-3.6.0-h100.tar.gz
		tkbundle collect .triton/cache -o k.tkb | grep "collected 17 "
		tkbundle verify k.tkb
		tkbundle emit k.tkb warm | grep -x \
			"emitted 17, present 0, repaired 0 to warm (Triton)"
		tkbundle collect warm -o again.tkb
		cmp k.tkb again.tkb'
}

is_as_before() {
	paths | diff "$work/before" -
}

holds "it packs a cache and puts it back" packs_and_puts_back
imports() {
	inside '
		tkbundle import triton-3.6.0-h100.tar.gz -o imported.tkb
		cmp k.tkb imported.tkb'
}

holds "it makes the same of the archive" imports
compiles() {
	inside "tkbundle compile .triton/cache/KRJX*/*.llir --target cuda:90 \
		--emit ptx -o - | grep 'entry add_kernel'"
}

holds "it finds its worker, and compiles IR" compiles
holds "the packages are removed" inside "
	apt-get remove -y -q --autoremove $packages
	! dpkg-query -W -f '\${db:Status-Abbrev} \${Package}\\n' |
		grep '^rc.*tkbundle' &&
	apt-get purge -y -q '~c'" # what others keep as their configuration
holds "nothing of them, nor of what they needed, is left" is_as_before

# Against /usr, without any path.
builds_and_runs() {
	# shellcheck disable=SC2016  # the inner shell expands it
	inside '
		set -e
		gcc -std=c99 -Wall -Wextra -Wpedantic -Werror consumer.c \
			-o consumer $(pkg-config --cflags --libs tkbundle)
		./consumer .triton/cache emitted | tee said
		grep -x "holds 17, emitted 17, failed 0" said
		gcc -std=c99 -Wall -Wextra -Wpedantic -Werror embed.c \
			compiler.c -o embed -pthread \
			$(pkg-config --cflags --libs tkbundle)
		mkdir embedded
		cd embedded
		../embed ../.triton/cache | diff ../expected.txt -'
}

needed "the library installs beside a compiler" installs \
	'./libtkbundle*.deb gcc libc6-dev pkg-config'
holds "programs are built with it, and run" builds_and_runs

ended
