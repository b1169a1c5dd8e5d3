#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What was installed works wherever it lies, for those who build with it too.
#
#     install.sh SOURCE_FOLDER BUILD_FOLDER C_COMPILER [C_FLAG]...
#
# A build folder is installed into a prefix that is then moved; a C99 and a
# C++17 project and examples/embed are built against it with CMake and with
# pkg-config, and run on a real cache. Prints TAP.

if [ $# -lt 3 ]; then
	echo "usage: install.sh SOURCE_FOLDER BUILD_FOLDER C_COMPILER" \
		"[C_FLAG]..." >&2
	exit 2
fi
source=$1
build=$2
CC=$3
shift 3
CFLAGS=$*
CXXFLAGS=$*
case $CC in
*gcc) CXX=${CC%gcc}g++ ;;
*clang) CXX=$CC++ ;;
*) CXX=c++ ;;
esac

unset DESTDIR LD_LIBRARY_PATH PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR
unset CMAKE_PREFIX_PATH tkbundle_DIR TKBUNDLE_DISABLE
export CC CXX CFLAGS CXXFLAGS CMAKE_GENERATOR=Ninja
umask 022
# shellcheck source=tests/support/tap.sh
. "$(dirname "$0")/../support/tap.sh"
begin install
tree=$work/moved+here

# CMake notes in the build folder what it has installed: not from here, where
# the folder may be somebody else's.
sed "s|file(WRITE \"$build/|file(WRITE \"$work/|" \
	"$build/cmake_install.cmake" >"$work/install.cmake"

# install_to PREFIX
install_to() {
	cmake -DCMAKE_INSTALL_PREFIX="$1" -P "$work/install.cmake"
}

put_and_move() {
	install_to "$work/first" &&
		mv "$work/first" "$tree"
}

holds "a build is installed, and its prefix moved" put_and_move
[ $failed -eq 0 ] || { echo "1..$number"; exit 1; }

# The one file of that name in the moved tree.
find_one() {
	find "$tree" -name "$1" -print -quit
}

program=$(find_one tkbundle.fish | sed 's|/share/.*|/bin/tkbundle|')
library=$(find_one libtkbundle.so)
remote=$(find_one libtkbundle-remote.so)
pc=$(find_one tkbundle.pc)
version=$(sed -n 's/^Version: //p' "$pc")
export PKG_CONFIG_PATH="${pc%/*}" CMAKE_PREFIX_PATH="$tree"

says_its_version() {
	test "$("$program" --version)" = "tkbundle $version"
}

loads_its_own_library() {
	ldd "$program" | grep -F "$tree/"
}

headers_are_there() {
	diff -r "$source/include/tkbundle" "$tree/include/tkbundle"
}

verbs_without_a_page() {
	"$program" help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' |
		grep -v -x help >"$work/verbs"
	test -s "$work/verbs" || echo "no verb"
	while read -r verb; do
		test -s "$tree/share/man/man1/tkbundle-$verb.1" || echo "$verb"
	done <"$work/verbs"
	for page in man1/tkbundle.1 man5/tkbundle-format.5 \
		man7/tkbundle-remote.7; do
		test -s "$tree/share/man/$page" || echo "$page"
	done
}

# says_what_to_install WORKER WORD...: where that program is not there.
says_what_to_install() {
	name=$1
	shift
	worker=$(find_one "$name")
	mv "$worker" "$work/worker" || return 1
	printf 'nothing' >"$work/k.ptx"
	printf 'nothing' >"$work/k.py"
	"$program" compile "$@" --target cuda:90 --cache "$work/cache" \
		>"$work/words" 2>&1
	status=$?
	mv "$work/worker" "$worker"
	cat "$work/words"
	test $status -eq 1 && grep -qF "there is no $name: install the package \
tkbundle-compile (looked for in '$tree/bin' and '${worker%/*}')" "$work/words"
}

names_the_package_of_a_worker() {
	says_what_to_install tkbundle-compile "$work/k.ptx" &&
		says_what_to_install triton_worker.py "$work/k.py:k" \
			--signature i32
}

names_the_package_for_archives() {
	worker=$(find_one tkbundle-archive)
	[ -z "$worker" ] || mv "$worker" "$work/worker" || return 1
	"$program" import "$source/fixtures/triton-3.6.0-h100.tar.gz" \
		-o "$work/none.tkb" >"$work/words" 2>&1
	status=$?
	[ -z "$worker" ] || mv "$work/worker" "$worker"
	cat "$work/words"
	test $status -eq 1 && grep "wheels do not have it; \
install the Debian package tkbundle-archive$" "$work/words"
}

imports_an_archive() {
	"$program" import "$source/fixtures/triton-3.6.0-h100.tar.gz" \
		-o "$work/imported.tkb"
}

profiles_are_found() {
	mkdir "$work/home" &&
		diff -r "$source/share/engines" "$tree/share/tkbundle/engines" &&
		env -u TKBUNDLE_ENGINES HOME="$work/home" VLLM_CACHE_ROOT="$work/home" \
			TRITON_CACHE_DIR="$work/home" XDG_CONFIG_HOME="$work/home" \
			"$program" collect --engine vllm -n
}

profiles_are_inside() {
	mv "$tree/share/tkbundle/engines" "$work/engines" || return 1
	env -u TKBUNDLE_ENGINES HOME="$work/home" XDG_CONFIG_HOME="$work/home" \
		"$program" config --engine vllm >"$work/words"
	mv "$work/engines" "$tree/share/tkbundle/engines"
	cat "$work/words"
	grep -q '^  profile built into tkbundle$' "$work/words"
}

completions_are_there() {
	test -s "$tree/share/bash-completion/completions/tkbundle" &&
		test -s "$tree/share/zsh/site-functions/_tkbundle" &&
		test -s "$tree/share/fish/vendor_completions.d/tkbundle.fish"
}

foreign_exports() {
	nm -D --defined-only "$library" "$remote" |
		awk 'NF == 3 && $2 != "A" { print $NF }' |
		sed 's/@.*//' >"$work/exports"
	grep -q '^tkb_' "$work/exports" || echo "nothing is exported"
	grep -v '^tkb_' "$work/exports"
}

# What could clash with a name of the program that links it.
foreign_globals() {
	nm -g --defined-only "${library%.so}.a" "${remote%.so}.a" | awk 'NF == 3 { print $3 }' \
		>"$work/globals"
	grep -q '^tkb_' "$work/globals" || echo "nothing is in it"
	grep -v -e '^tkb_' -e '^__\(asan\|odr_asan\|tsan\|ubsan\|sanitizer\)' \
		"$work/globals"
}

# A short name, such as /tkbundle/, stands in texts that mean another place:
# there only what is in the tree tells.
parts_of_source() {
	case $source in
	/*/*) echo "$source/" ;;
	*) printf '%s\n' "$source"/*/ ;;
	esac
}

# With $1 = -I, in text alone.
old_places() {
	parts_of_source >"$work/parts"
	grep -r -l -F -f "$work/parts" -e "$build" -e "$work/first" "$@" "$tree"
}

holds "the moved program says its version" says_its_version
holds "it runs with the library beside it" loads_its_own_library
holds "without the worker it says what to install" names_the_package_of_a_worker
holds "so it does for archives" names_the_package_for_archives
if [ -n "$(find_one tkbundle-archive)" ]; then
	holds "with it, an archive is imported" imports_an_archive
else
	skipped "with it, an archive is imported" "it was built without"
fi
holds "every public header is there, byte for byte" headers_are_there
holds "every verb has a manual page" nothing verbs_without_a_page
holds "the profiles of engines are there, and are found" profiles_are_found
holds "without them the program has its own" profiles_are_inside
holds "each shell has its completions" completions_are_there
holds "the libraries export only tkb_*" nothing foreign_exports
holds "so do the static ones" nothing foreign_globals
holds "no text tells where it was built" nothing old_places -I
rule="neither does the program nor the library"
if grep -q '^CMAKE_BUILD_TYPE:.*=Debug$' "$build/CMakeCache.txt"; then
	skipped "$rule" "a debugger needs to know"
else
	holds "$rule" nothing old_places
fi

# A package is made so: below DESTDIR, for the loader's own folders.
put_below_destdir() {
	(
		export DESTDIR="$work/stage"
		install_to /usr
	) &&
		(cd "$work/stage/usr" && find . | sort) >"$work/staged" &&
		(cd "$tree" && find . | sort) | diff - "$work/staged"
}

search_paths() {
	readelf -d "$1" | grep -E 'R(UN)?PATH'
}

paths_in_usr() {
	search_paths "$work/stage/usr/bin/tkbundle"
	search_paths "$work/stage/usr/${library#"$tree/"}"
	search_paths "$work/stage/usr/${remote#"$tree/"}"
}

path_elsewhere() {
	# shellcheck disable=SC2016  # the loader knows it
	search_paths "$program" | grep -F '[$ORIGIN/../lib' &&
		nothing search_paths "$library" &&
		search_paths "$remote" | grep -F '[$ORIGIN]'
}

# Some packages name the whole path of the folder.
takes_a_whole_path() {
	cmake -S "$source" -B "$work/whole" -DBUILD_TESTING=OFF \
		-DTKB_WITH_LLVM=OFF -DTKB_WITH_LIBARCHIVE=OFF \
		-DCMAKE_INSTALL_PREFIX=/usr \
		-DCMAKE_INSTALL_LIBDIR=/usr/lib64 || return 1
	# shellcheck disable=SC2016  # CMake expands it
	grep -F '"$ENV{DESTDIR}/usr/lib64/libtkbundle-remote.so' \
		"$work/whole/cmake_install.cmake"
}

holds "DESTDIR gets the same files" put_below_destdir
holds "for /usr, nothing has a search path" nothing paths_in_usr
holds "elsewhere, they are relative" path_elsewhere
holds "the folder for libraries may be a whole path" takes_a_whole_path

needs() {
	readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p'
}

# Who reads bundles loads no client of HTTP or Redis.
needs_little() {
	needs "$library" | grep -v -E "^(lib(zstd|crypto|c|m|pthread|gcc_s|[a-z]*san)|ld-linux[a-z0-9-]*|libclang_rt[a-z0-9_.-]*)\\.so"
}

holds "the library needs libzstd and libcrypto alone" nothing needs_little
holds "that for remotes needs the other one" \
	eval 'needs "$remote" | grep -x libtkbundle.so.1'

# Is version $1 of the package found?
is_found() {
	rm -rf "$work/ask"
	mkdir "$work/ask"
	cat >"$work/ask/CMakeLists.txt" <<-END
		cmake_minimum_required(VERSION 3.25)
		project(ask LANGUAGES NONE)
		find_package(tkbundle $1 REQUIRED)
	END
	cmake -S "$work/ask" -B "$work/ask/build"
}

# While it is 0.x, each minor version may break what came before.
minor=${version%.*}
before=${minor%.*}.$((${minor#*.} - 1))
after=${minor%.*}.$((${minor#*.} + 1))
holds "find_package takes $minor" is_found "$minor"
holds "it does not take $before" eval "! is_found $before"
holds "nor $after" eval "! is_found $after"

mkdir "$work/fixture"
tar -xzf "$source/fixtures/triton-3.6.0-h100.tar.gz" -C "$work/fixture" ||
	exit 1
cache=$work/fixture/.triton/cache

build_with_cmake() {
	cmake -S "$1" -B "$2" && cmake --build "$2" &&
		grep "^tkbundle_DIR:PATH=$tree/" "$2/CMakeCache.txt"
}

# consumer PROGRAM: runs it, and the installed program on what it made.
consumes() {
	cat >"$work/expected" <<-END
		headers $version, library $version
		collected 17, left out 0
		holds 17, emitted 17, failed 0
	END
	rm -rf "$work/root"
	"$1" "$cache" "$work/root" | diff "$work/expected" - &&
		"$program" verify "$work/root"
}

# Runs a program of examples/embed.
embeds() {
	rm -rf "$work/embedded"
	mkdir "$work/embedded"
	(cd "$work/embedded" && "$1" "$cache") |
		diff "$source/examples/embed/expected.txt" -
}

holds "find_package serves C99 and C++17" \
	build_with_cmake "$source/tests/install/consumer" "$work/consumer"
# shares PROGRAM: pushes and pulls by it.
shares() {
	rm -rf "$work/place" "$work/pulled"
	"$1" "$cache" "$work/place" "$work/pulled" |
		grep -x "pushed 17, emitted 17"
}

holds "the C99 program works" consumes "$work/consumer/consumer_c"
holds "the C++17 program works" consumes "$work/consumer/consumer_cpp"
# It needs no library of ours to be found.
needs_no_library() {
	! ldd "$1" | grep tkbundle
}

holds "a program with the static library works" \
	consumes "$work/consumer/consumer_static"
holds "it needs no libtkbundle.so" \
	needs_no_library "$work/consumer/consumer_static"
holds "a program with remotes works" shares "$work/consumer/consumer_remote"
holds "so does a static one" shares "$work/consumer/consumer_remote_static"
holds "and needs no libtkbundle.so" \
	needs_no_library "$work/consumer/consumer_remote_static"
holds "find_package serves examples/embed" \
	build_with_cmake "$source/examples/embed" "$work/embed"
holds "it prints what it should" embeds "$work/embed/embed"

# compile OUT COMPILER [ARGUMENT]...
compile() {
	out=$1
	shift
	# shellcheck disable=SC2046,SC2086  # they are many words
	"$@" $CFLAGS -Wall -Wextra -Wpedantic -Werror -o "$out" \
		$(pkg-config --cflags --libs tkbundle) -pthread
}

holds "pkg-config serves C99" compile "$work/plain_c" \
	"$CC" -std=c99 "$source/tests/install/consumer/consumer.c"
holds "pkg-config serves C++17" compile "$work/plain_cpp" \
	"$CXX" -std=c++17 "$source/tests/install/consumer/consumer.cpp"
compile_with_remotes() {
	# shellcheck disable=SC2046,SC2086  # they are many words
	"$CC" -std=c99 $CFLAGS -Wall -Wextra -Wpedantic -Werror \
		"$source/tests/install/consumer/consumer_remote.c" \
		-o "$work/plain_remote" \
		$(pkg-config --cflags --libs tkbundle-remote)
}

holds "pkg-config serves remotes" compile_with_remotes
holds "pkg-config serves examples/embed" compile "$work/plain_embed" \
	"$CC" -std=c99 "$source/examples/embed/embed.c" \
	"$source/examples/embed/compiler.c"
# The linker takes the shared one where it finds both.
link_statically() {
	mkdir -p "$work/static" && ln -sf "${library%.so}.a" "$work/static/" &&
	# shellcheck disable=SC2046,SC2086  # they are many words
	"$CC" -std=c99 $CFLAGS -o "$work/static/plain" \
		"$source/tests/install/consumer/consumer.c" \
		$(pkg-config --cflags tkbundle) -L"$work/static" \
		$(pkg-config --static --libs tkbundle |
			sed "s|-L[^ ]*${library%/*}[^ ]*||; s|-L$tree[^ ]*||g")
}
holds "pkg-config --static serves C99" link_statically
holds "the program that it made works" consumes "$work/static/plain"
holds "and needs no libtkbundle.so" needs_no_library "$work/static/plain"
LD_LIBRARY_PATH=${library%/*}
export LD_LIBRARY_PATH
holds "that C99 program works" consumes "$work/plain_c"
holds "that C++17 program works" consumes "$work/plain_cpp"
holds "that program with remotes works" shares "$work/plain_remote"
holds "that example prints what it should" embeds "$work/plain_embed"

ended
