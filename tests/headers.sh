#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Hold the house to its rules, those that no compiler checks for us.
#
#     headers.sh SOURCE_FOLDER LIBRARY LIBRARY_FOR_REMOTES OBJECT...
#
# The public headers are strict C99 and C++11, each by itself; the library
# exports and needs what it may and does nothing that a library must not;
# layers include only what they may. Prints TAP.

if [ $# -lt 4 ]; then
	echo "usage: headers.sh SOURCE_FOLDER LIBRARY LIBRARY_FOR_REMOTES" \
		"OBJECT..." >&2
	exit 2
fi
# shellcheck source=tests/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
begin headers
cd "$1" || exit 2
library=$2
remote=$3
shift 3
objects=$*

# Rule $1 holds if the rest, a command, finds nothing; what it finds is shown.
none() {
	rule=$1
	shift
	"$@" >"$work/found" 2>&1
	sed 's/^/# /' "$work/found"
	if [ -s "$work/found" ]; then
		missed "$rule"
	else
		passed "$rule"
	fi
}

# The other way round: there is something that rules can be held against.
some() {
	rule=$1
	shift
	"$@" >"$work/found"
	if [ -s "$work/found" ]; then
		passed "$rule"
	else
		missed "$rule"
	fi
}

# What `compiler` says of `header`, included twice: a guard is a part of it.
complaints() {
	printf '#include <%s>\n#include <%s>\n' "$header" "$header" |
		"$compiler" -std="$standard" -Wall -Wextra -Wpedantic -Werror \
			-Wundef -fsyntax-only -Iinclude -x "$language" - 2>&1
}

headers=$(cd include && echo tkbundle/*.h)
for compiler in gcc clang g++ clang++; do
	case $compiler in
	*++) language=c++ standard=c++11 ;;
	*) language=c standard=c99 ;;
	esac
	if ! command -v $compiler >/dev/null; then
		passed "headers for $compiler # SKIP there is none"
		continue
	fi
	for header in $headers; do
		none "$header is strict $standard for $compiler" complaints
	done
done

# Sources, one a line.
sources() {
	find "$@" -name '*.[ch]' | sort
}

# Of the files given, "file:what is included", one a line.
includes() {
	grep -H -E '^[[:space:]]*#[[:space:]]*include' "$@" |
		sed 's/:[[:space:]]*#[[:space:]]*include[[:space:]]*/:/'
}

public_strangers() {
	includes include/tkbundle/*.h |
		grep -v -E ':<(tkbundle/[a-z_]+|std(bool|def|int))\.h>'
}

none "public headers include each other and types" public_strangers

# A foreign library is touched in one folder; version.c only names them all.
foreign() {
	# shellcheck disable=SC2046 # no name has a blank
	includes $(sources src tools include) |
		grep -E ":[<\"]($what)" | grep -v -E "^($where):"
}

what='z(std|dict)[a-z_]*\.h' where='src/format/[a-z_]*\.[ch]'
none "libzstd is used in src/format" foreign
what='openssl/(ssl|x509|bio)' where='src/trust/key(_pem)?\.c'
none "TLS is libcurl's" foreign
what='openssl/'
where='src/base/[a-z_]*\.[ch]|src/format/version\.c|src/remote/s3/sigv4\.c'
where="$where|src/remote/net/base64\.[ch]|src/trust/key[a-z_]*\.[ch]"
none "OpenSSL is used in src/base, for HMAC, and for keys" foreign
what='hiredis' where='src/remote/redis/resp\.c|src/format/version\.c'
none "hiredis is used in src/remote/redis/resp.c" foreign
what='jansson\.h' where='tools/tkbundle/((cli/json_out|compile/compile_bind|run/run_[a-z]*|why/[a-z_]*|doctor/(look|engine_keys)|starts/[a-z_]*|page/page_data|image/[a-z_]*)\.c|cli/json_in\.h)'
none "jansson is used where documents are written or read" foreign
what='curl/'
where='src/remote/net/(curl\.h|authorities\.c)|src/format/version\.c'
none "libcurl is used by way of remote/net/curl.h, and asked where it looks" foreign
what='expat\.h' where='src/remote/net/xml\.c|src/format/version\.c'
none "expat is used in src/remote/net/xml.c" foreign
what='llvm' where='tools/tkbundle-compile/[a-z_/]*\.[ch]'
none "LLVM is used in the worker program" foreign
what='archive(_entry)?\.h' where='tools/tkbundle-archive/handles\.h'
none "libarchive is used in the program for archives" foreign
what='(cuda/|nv(JitLink|ml)\.h)' where='nowhere'
none "no other library is used" foreign

# The code alone, for comments may name what is forbidden.
code() {
	for file in "$@"; do
		"${CC:-cc}" -w -fpreprocessed -dD -E -P -x c "$file" |
			sed "s|^|$file: |"
	done
}

called() {
	grep -E "(^|[^A-Za-z0-9_.>])($1)[[:space:]]*\\("
}

banned='strcpy|strcat|v?sprintf|gets|strtok(_r)?|ato(i|l|ll|f)'
banned="$banned|gmtime|localtime|asctime|ctime|system|popen|alloca"
loud='v?f?printf|v?dprintf|puts|putchar|perror|fputs|fputc|putc|fwrite'
loud="$loud|v?syslog|v?warnx?|v?errx?|_?exit|_Exit|quick_exit|abort|raise"
loud="$loud|kill|signal|sigaction|setlocale|setenv|putenv|unsetenv|umask"
loud="$loud|chdir|fork|exec[lv]p?e?|posix_spawnp?"

banned_calls() {
	# shellcheck disable=SC2046
	code $(sources src tools) | called "$banned"
}

# The pool ends its workers; a worker's environment is its job's. src/libc is a
# libc's own part, posix_spawn() for one. Some credentials come from programs
# that the user's files name.
loud_calls() {
	# shellcheck disable=SC2046
	code $(sources src) |
		grep -v -E '^src/(compile/pool/(worker|variables)\.c|libc/.*): ' |
		called "$loud" |
		grep -v -E -e '^src/compile/pool/spawn\.c: .*[^a-z](kill|posix_spawn)\(' \
			-e '^src/remote/net/helper\.c: .*[^a-z](kill|posix_spawnp)\('
}

none "no banned function is called" banned_calls
none "the library does not print, end or change its process" loud_calls

undefined() {
	nm -D --undefined-only "$library" "$remote" |
		sed -e 's/.* //' -e 's/@.*//' -e 's/_chk$//' -e 's/^__//'
}

loud_symbols() {
	undefined | grep -x -E "$loud|$banned|stdin|stdout|stderr" |
		grep -v -x -E 'kill|(un)?setenv|posix_spawnp?|_exit'
}

some "the library has undefined symbols to look at" undefined
none "the library links to nothing that prints or ends" loud_symbols

# "version name" of each; the versions themselves are absolute symbols.
versioned() {
	nm -D --defined-only --with-symbol-versions "$@" |
		awk 'NF == 3 && $2 != "A" { sub(/@+/, " ", $3); print $3 }' |
		awk '{ print $2, $1 }' | sort
}

exported() {
	versioned "$library" "$remote" | sed -n 's/^TKBUNDLE_1 //p'
}

foreign_exports() {
	versioned "$library" "$remote" | grep -v ' tkb_'
}

# unlisted LIBRARY LIST: what one has and the other has not.
unlisted() {
	versioned "$1" | sed -n 's/^TKBUNDLE_1 //p' | diff - "$2"
}

# Only libtkbundle-remote may use these, and of the same version.
private_users() {
	versioned "$library" | grep -v '^TKBUNDLE_1 ' |
		grep -v '^TKBUNDLE_PRIVATE_[0-9.]* '
	versioned "$remote" | grep -v '^TKBUNDLE_1 '
}

declared_privates() {
	versioned "$library" | sed -n 's/^TKBUNDLE_PRIVATE_[0-9.]* //p' |
		while read -r symbol; do
			grep -x "$symbol(" "$work/declared"
		done
}

undeclared_exports() {
	code include/tkbundle/*.h | grep -o 'tkb_[a-z0-9_]*(' >"$work/declared"
	exported | while read -r symbol; do
		grep -q -x "$symbol(" "$work/declared" || echo "$symbol"
	done
}

some "the library exports something" exported
none "the libraries export only tkb_*" foreign_exports
none "what is exported is declared in a public header" undeclared_exports
none "libtkbundle exports what src/tkbundle.symbols lists" \
	unlisted "$library" src/tkbundle.symbols
none "libtkbundle-remote exports what src/tkbundle-remote.symbols lists" \
	unlisted "$remote" src/tkbundle-remote.symbols
none "what is for libtkbundle-remote alone has a version of its own" private_users
none "and is in no public header" declared_privates

needed() {
	readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p'
}

strange_needs() {
	allowed="lib($2|c|m|pthread|gcc_s)"
	allowed="$allowed|ld-linux[a-z0-9-]*"
	allowed="$allowed|lib(a|t|l|ub)san|libclang_rt[a-z0-9_.-]*"
	needed "$1" | grep -v -E "^($allowed)\\.so"
}

some "the library needs others" needed "$library"
none "libtkbundle needs libzstd and libcrypto alone" \
	strange_needs "$library" 'zstd|crypto'
none "libtkbundle-remote needs what it is known to" strange_needs "$remote" \
	'tkbundle|crypto|hiredis|curl|expat'

# An empty path is the current folder.
current_folder() {
	readelf -d "$library" "$remote" "${library%/*}/tkbundle" |
		grep -E 'R(UN)?PATH.*(\[:|::|:\])'
}

some "the program is beside the library" ls "${library%/*}/tkbundle"
none "nothing looks for libraries in the current folder" current_folder

# shellcheck disable=SC2086 # the objects are many words
variables() {
	nm -A -f sysv $objects | awk -F '|' '
		$7 ~ /^ *\.(data|bss|tdata|tbss)/ && $7 !~ /\.data\.rel\.ro/ ||
		$7 ~ /\*COM\*/ { print $1, $7 }'
}

# A script without that right is a test that is not run.
cannot_run() {
	find bench cmake fuzz packaging tests tools -type f \
		'(' -name '*.py' -o -name '*.sh' ')' ! -perm -100 \
		-exec awk 'FNR == 1 && /^#!/ { print FILENAME }' '{}' +
}

none "whoever owns a script that begins with #! may run it" cannot_run

# A sanitizer keeps variables of its own beside ours.
rule="the library has no variable outside a function"
# shellcheck disable=SC2086 # the objects are many words
if nm -u $objects | grep -q -E '__(asan|tsan|ubsan|msan)_'; then
	passed "$rule # SKIP a sanitizer has some"
else
	none "$rule" variables
fi

ended
