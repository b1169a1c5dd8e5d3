#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What ./bootstrap does where packages are missing, by root, sudo or neither.
#
#     bootstrap.sh SOURCE_FOLDER
#
# dpkg, apt, sudo, id and cmake are stand-ins that note how they are called:
# nothing is installed or built. Prints TAP.
# shellcheck disable=SC2317,SC2329 # functions are called by holds()

source=$(realpath "$1") || exit 2
# shellcheck source=tests/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
begin bootstrap
cd "$work" || exit 1

# Sentence $1 holds if the rest, a command, succeeds.
holds() {
	sentence=$1
	shift
	if "$@"; then
		passed "$sentence"
	else
		missed "$sentence"
		sed 's/^/# /' said calls
	fi
}

script() {
	{
		echo '#!/bin/sh'
		cat
	} >"bin/$1"
	chmod +x "bin/$1"
}

# Of the machine it gets these, so that there is no sudo.
mkdir bin tree
cp "$source/bootstrap" tree/
mkdir tree/tests
echo redis >tree/tests/requirements.txt
echo moto >tree/tests/s3_requirements.txt
for tool in bash cat chmod cut dirname env grep mkdir mktemp nproc rm sed sh tar \
	touch; do
	ln -s "$(command -v $tool)" bin/
done
script dpkg-query <<'END'
for package; do :; done
grep -qx "$package" "$WORK/missing" || echo 'install ok installed'
END
script apt-cache <<'END'
grep -x "$2" "$WORK/known"
END
script apt-get <<'END'
echo "apt-get $*" >>"$WORK/calls"
END
script cmake <<'END'
echo "cmake $*" >>"$WORK/calls"
END
script python3 <<'END'
[ "$1" != -c ] || exit 1
echo "python3 $*" >>"$WORK/calls"
[ "$1 $2" = '-m venv' ] || exit 0
mkdir -p "$3/bin"
echo '#!/bin/sh
echo "pip $*" >>"$WORK/calls"' >"$3/bin/pip"
chmod +x "$3/bin/pip"
END
script id <<'END'
cat "$WORK/uid"
END

# bootstrap ARGUMENT...: what it says is in `said`, who was called in `calls`.
bootstrap() {
	: >calls
	env -i WORK="$work" PATH="$work/bin" LC_ALL=C \
		./tree/bootstrap "$@" >said 2>&1
	status=$?
}

# What is missing; the rest is what apt knows.
missing() {
	printf '%s\n' "$@" >missing
}

not() {
	! "$@"
}

says() {
	grep -q -e "$1" said
}

called() {
	grep -q -e "$1" calls
}

# Engine $1 is started by each of the scripts behind it.
started() {
	engine=$1
	shift
	[ $# -ne 0 ] || return 1
	for name; do
		called "tests/engines/$name .* build/engines-$engine/bin/python3$" ||
			return 1
	done
}

built() {
	[ "$status" -eq 0 ] && called 'cmake --build build/release'
}

fails_with() {
	[ "$status" -eq 1 ] && [ "$(tail -n 1 said)" = "    $1" ] &&
		not called .
}

list='apt-get update && apt-get install --no-install-recommends'
printf '%s\n' gcc nginx python3-venv llvm-22-dev >known

echo 1000 >uid
missing nothing
bootstrap build
holds "with all there, neither root nor sudo is needed" built
holds "nor is apt asked" not called apt-get

missing gcc python3-venv nginx llvm-22-dev
bootstrap test
holds "without both, all that a verb needs is named in one command" \
	fails_with "$list gcc nginx python3-venv llvm-22-dev"
bootstrap demo
holds "the demo needs no LLVM" fails_with "$list gcc"
bootstrap build -DTKB_WITH_LLVM=OFF
holds "nor does who builds without it" fails_with "$list gcc"

missing llvm-22-dev
bootstrap build
holds "what is only wanted is named, and left" built
holds "by name" says "$list llvm-22-dev"
bootstrap build -DTKB_WITH_LLVM=OFF
holds "what is not wanted is not named" not says llvm
holds "and the build is told" called 'cmake .* -DTKB_WITH_LLVM=OFF$'

missing python3-venv
bootstrap test
holds "without python3-venv tests are run" called \
	'^python3 -B tests/run_tests.py build/release'
holds "and what is skipped is said" says 'no python3-venv: .* is skipped'

missing nothing
bootstrap engines
holds "the real PyTorch is fetched" called '^pip install .* torch==2.11.0$'
# shellcheck disable=SC2046 # one word for each script
holds "and started by every script there is for it" started torch-2.11.0 \
	$(cd "$source/tests/engines" && printf '%s\n' real_*.py |
		grep -v -e jax -e sglang -e tilelang -e vllm)
bootstrap engines
holds "it is fetched once" not called '^pip '
bootstrap engines vllm==0.33.0
holds "the real vLLM is fetched" called '^pip install .* vllm==0.33.0$'
holds "and started" called '^python3 .*tests/engines/real_vllm.py .*-vllm-0.33.0/'
bootstrap engines tilelang==0.1.15
holds "the real TileLang is fetched with a compiler" called \
	'^pip install .* tilelang\[nvcc\]==0.1.15$'
holds "and started" called \
	'^python3 .*tests/engines/real_tilelang.py .*-tilelang-0.1.15/'
bootstrap engines sglang==0.5.23
holds "of the real SGLang that is fetched which compiles kernels" called \
	'^pip install .* --no-deps sglang==0.5.23 .* nvidia-cuda-nvcc=='
holds "and started" called '^python3 .*tests/engines/real_sglang.py .*-sglang-0.5.23/'
bootstrap engines jax==0.10.2
holds "the real JAX is fetched" called '^pip install .* jax==0.10.2 filelock$'
holds "and started" called '^python3 .*tests/engines/real_jax.py .*-jax-0.10.2/'
bootstrap engines gpt==1
holds "an engine that is none is refused" [ "$status" -eq 2 ]

script sudo <<'END'
echo "sudo $*" >>"$WORK/calls"
exec "$@"
END
missing nothing
bootstrap build
holds "sudo is not called in vain" not called sudo
echo gcc >known
missing llvm-22-dev
bootstrap build
holds "nor for what this Debian does not have" not called sudo
printf '%s\n' gcc llvm-22-dev >known
missing cmake llvm-22-dev
bootstrap build
holds "what is missing is installed by it" called \
	'^sudo .*apt-get install .* cmake llvm-22-dev$'
holds "and then it is built" built

script sudo <<'END'
echo "sudo: a password is required" >&2
exit 1
END
bootstrap build
holds "where sudo refuses, the list is told" \
	fails_with "$list cmake llvm-22-dev"

echo 0 >uid
bootstrap build
holds "root needs no sudo" called '^apt-get install .* cmake llvm-22-dev$'
printf '%s\n' gcc libarchive-dev >known
missing cmake libarchive-dev
bootstrap build
holds "libarchive is installed" called \
	'^apt-get install .* cmake libarchive-dev$'
bootstrap build -DTKB_WITH_LIBARCHIVE=OFF
holds "but not where it is not wanted" called '^apt-get install .* cmake$'
: >known
missing cmake
bootstrap build
holds "apt's lists are fetched first" called '^apt-get update'

ended
