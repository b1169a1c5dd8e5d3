#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Prove what ./bootstrap wheels built on the oldest and the newest Debian, and
# on arm64 under qemu: the wheel installs, and the program passes the whole test
# of the command line, as root, and as a user without a name and a home in a root
# that can only be read. So does the package, by that Debian's Python: 3.9 to 3.14.
#
#     portable.sh FOLDER KEEP [SUITE-ARCH]...
#
# FOLDER holds wheels and tars, build/wheels/out. KEEP keeps the bare Debians for
# a month, 200 MB each. Without SUITE-ARCH, each of which there is a wheel. Needs
# root, the network, and for another architecture than this machine's
# qemu-user-static and a kernel whose user namespaces have binfmt_misc (6.7).
# Prints TAP.

if [ $# -lt 2 ]; then
	echo "usage: portable.sh FOLDER KEEP [SUITE-ARCH]..." >&2
	exit 2
fi
if [ "$(id -u)" -ne 0 ]; then
	echo "portable.sh: only root can make a Debian" >&2
	exit 1
fi
wheels=$(cd "$1" && pwd -P) || exit 2
mkdir -p "$2" || exit 2
keep=$(cd "$2" && pwd -P)
shift 2
source=$(cd "$(dirname "$0")/../.." && pwd -P)
[ $# -ne 0 ] || set -- bullseye-x86_64 trixie-x86_64 sid-x86_64 trixie-aarch64

umask 022
# shellcheck source=tests/support/tap.sh
. "$(dirname "$0")/../support/tap.sh"
begin portable
chmod 755 "$work"

debian_name() {
	case $1 in
	x86_64) echo amd64 ;;
	aarch64) echo arm64 ;;
	esac
}

# What the kernel compares of an ELF file, and with which mask.
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff'
mask=$mask'\xff\xff'
machine_of() {
	case $1 in
	x86_64) printf '%s' '\x3e\x00' ;;
	aarch64) printf '%s' '\xb7\x00' ;;
	esac
}

# Runs a command in namespaces of its own, where programs of the other
# architecture run, too: the machine's own binfmt_misc stays as it is.
# shellcheck disable=SC2016  # the inner shell expands it
emulated() {
	unshare --user sleep infinity &
	holder=$!
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		[ "$(readlink "/proc/$holder/ns/user")" = \
			"$(readlink /proc/self/ns/user)" ] || break
		sleep 0.1
	done
	echo 0 0 65536 >"/proc/$holder/uid_map" &&
		echo 0 0 65536 >"/proc/$holder/gid_map" &&
		nsenter --user --target "$holder" --setuid 0 --setgid 0 \
			unshare --mount --pid --fork --kill-child -- sh -c '
			place=/proc/sys/fs/binfmt_misc
			mount -t proc proc /proc &&
				mount -t binfmt_misc binfmt_misc $place &&
				printf %s "$1" >$place/register || exit 1
			shift
			exec "$@"' sh \
			":qemu-$arch:M::$magic$(machine_of "$arch"):$mask:$qemu:F" \
			"$@"
	status=$?
	kill "$holder"
	wait "$holder" 2>/dev/null
	return $status
}

# Runs a command where programs of $arch run.
for_arch() {
	if [ "$arch" = "$(uname -m)" ]; then
		unshare --mount --pid --fork --kill-child -- "$@"
	else
		emulated "$@"
	fi
}

# Packages of another architecture are unpacked, and no more: to have qemu install
# them takes a quarter of an hour.
make_minbase() {
	[ -z "$(find "$minbase" -mtime -30 2>/dev/null)" ] || return 0
	apt-config dump | grep -E '^Acquire::(https?::|Check-)' >"$work/apt.conf"
	packages=python3,python3-venv,binutils,zstd,libarchive-tools,strace
	variant=minbase
	if [ "$arch" != "$(uname -m)" ]; then
		variant=extract
		packages=$packages,base-files,bash,bsdutils,coreutils,dash
		packages=$packages,diffutils,findutils,grep,gzip,libc-bin
		packages=$packages,mawk,procps,sed,tar,util-linux
	fi
	mmdebstrap --quiet --mode=root --variant=$variant \
		--architectures="$(debian_name "$arch")" --include="$packages" \
		--aptopt="$work/apt.conf" "$suite" "$work/new.tar" \
		"deb http://deb.debian.org/debian $suite main" &&
		mv "$work/new.tar" "$minbase"
}

make_root() {
	make_minbase && mkdir "$root" && tar -xf "$minbase" -C "$root" \
		--numeric-owner --exclude='./dev/*' || return 1
	# What packages do when they are installed.
	[ -e "$root/usr/bin/awk" ] || ln -s mawk "$root/usr/bin/awk"
	if [ ! -s "$root/etc/ssl/certs/ca-certificates.crt" ]; then
		mkdir -p "$root/etc/ssl/certs"
		cat "$root"/usr/share/ca-certificates/mozilla/*.crt \
			>"$root/etc/ssl/certs/ca-certificates.crt"
	fi
	mkdir -p "$root/dev" "$root/proc" "$root/tmp"
	chmod 1777 "$root/tmp"
	mkdir -p "$root/tkbundle/tests" "$root/usr/local" &&
		cp -r "$source/tests/cli" "$source/tests/portable" \
			"$root/tkbundle/tests" &&
		cp -r "$source/tests/python" "$source/tests/run" \
			"$source/tests/support" "$root/tkbundle/tests" &&
		cp -r "$source/python" "$source/fixtures" "$work/tls" \
			"$root/tkbundle" &&
		cp "$wheels"/*"$arch"*.whl "$root/tkbundle" &&
		tar -xzf "$wheels"/tkbundle-*-"linux-$arch.tar.gz" \
			-C "$root/usr/local" --no-same-owner
}

# inside COMMAND...: with a /tmp of its own. $user is what becomes the user, and
# with $is_fixed nothing else can be written.
# shellcheck disable=SC2016  # the inner shell expands it
inside() {
	for_arch sh -c '
		root=$1 is_fixed=$2 patience=$3
		shift 3
		mount --make-rprivate / && mount --bind "$root" "$root" &&
			mount --rbind /dev "$root/dev" &&
			mount -t proc proc "$root/proc" &&
			mount -t tmpfs -o mode=1777 tmpfs "$root/tmp" || exit 1
		[ -z "$is_fixed" ] ||
			mount -o remount,bind,ro "$root" || exit 1
		exec chroot "$root" /usr/bin/env -i HOME=/nonexistent \
			TKB_TEST_PATIENCE="$patience" \
			LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 \
			PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
		' sh "$root" "$is_fixed" "$patience" ${user:+setpriv --reuid "$user" \
		--regid "$user" --clear-groups} "$@"
}

# shellcheck disable=SC2016  # the inner shell expands it
installs() {
	inside sh -ec '
		python3 -m venv /venv
		/venv/bin/pip install -q --no-index /tkbundle/*.whl
		cmp /venv/bin/tkbundle /usr/local/bin/tkbundle
		mkdir /tkbundle/built
		cp /venv/bin/tkbundle /tkbundle/built
		cp /venv/lib/python3*/site-packages/tkbundle/_lib/* /tkbundle/built'
}

cannot_be_written() {
	inside sh -c '! touch /usr/local/x 2>/dev/null && ! id -un 2>/dev/null'
}

# What was skipped there is told, too.
passes_the_tests() {
	inside sh /tkbundle/tests/cli/run.sh "$1" >"$work/cli"
	status=$?
	sed '/^ok /d' "$work/cli"
	echo "$(grep -c '^ok ' "$work/cli") passed"
	sed -n 's/^ok .*# SKIP /skipped: /p' "$work/cli" >"$work/skips"
	return $status
}

# Those that need Triton or a server are skipped.
package_passes() {
	inside /venv/bin/python3 /tkbundle/tests/run/scenes.py python \
		/tkbundle/built/tkbundle >"$work/python"
	status=$?
	grep -v '^ok ' "$work/python"
	inside /venv/bin/python3 -V
	sed -n 's/^ok .*# SKIP /skipped: /p' "$work/python" >"$work/skips"
	return $status
}

tell_skips() {
	sort "$work/skips" | uniq -c | sed 's/^ */# /'
}

prove() {
	holds "$name: the wheel installs, and has the program of the tar" \
		installs || return
	holds "$name: root uses the program" \
		passes_the_tests /usr/local/bin/tkbundle
	tell_skips
	rm -rf "$root/etc/ssl"
	holds "$name: it finds the authorities of each distribution" \
		inside /venv/bin/python3 /tkbundle/tests/portable/trust.py \
		/venv/bin/tkbundle /tkbundle/tls
	user=12345
	is_fixed=yes
	holds "$name: a user without a name cannot write" cannot_be_written
	holds "$name: that user uses the program" \
		passes_the_tests /venv/bin/tkbundle
	tell_skips
	holds "$name: that user uses the package" \
		inside /venv/bin/python3 /tkbundle/tests/portable/package.py \
		/tkbundle/fixtures/triton-3.6.0-cpu.tar.gz /tmp
	holds "$name: the package passes its tests" package_passes
	tell_skips
}

make_certificates() {
	mkdir "$work/tls" && cd "$work/tls" || return 1
	set -- -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes
	echo 'subjectAltName=DNS:localhost' >server.ext
	openssl req -x509 "$@" -days 2 -subj /CN=ca -keyout ca.key -out ca.pem &&
		openssl req "$@" -subj /CN=server -keyout server.key \
			-out server.csr &&
		openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key \
			-set_serial 1 -days 2 -extfile server.ext -out server.pem
}

if ! holds "openssl makes certificates" make_certificates; then
	ended
	exit 1
fi
for name; do
	suite=${name%%-*} arch=${name#*-}
	minbase=$keep/$name.tar root=$work/root user='' is_fixed=''
	qemu=/usr/bin/qemu-$arch-static patience=1
	# How much longer things take in qemu.
	[ "$arch" = "$(uname -m)" ] || patience=15
	if ! ls "$wheels"/*"$arch"*.whl >"$work/said" 2>&1; then
		skipped "$name" "there is no wheel for $arch"
		continue
	fi
	if [ "$arch" != "$(uname -m)" ] && ! [ -x "$qemu" ]; then
		skipped "$name" "there is no $qemu"
		continue
	fi
	if holds "$name: mmdebstrap makes it" make_root; then
		prove
	fi
	rm -rf --one-file-system "$root"
done
ended
