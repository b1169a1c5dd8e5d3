#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Hold the shells' completions against the program.
#
#     completions.sh PROGRAM FOLDER
#
# Each shell that is installed is asked what it would offer: every verb has the
# options that `tkbundle help` prints, no others, and each option the words that
# it may have. The files of the others are searched for the same names. Prints
# TAP; the exit status is 1 if something is amiss.
set -u
shopt -s extglob

program=$(realpath "$1")
files=$(realpath "$2")

# shellcheck source=tests/support/tap.sh
. "$(dirname "$0")/../support/tap.sh"
begin completions
mkdir -p "$work/here/warm" "$work/here/cold" "$work/home" "$work/engines"
touch "$work/engines/mine.json"
touch "$work/here/a.tkb" "$work/here/b c.tkb" "$work/here/notes"
cd "$work/here" || exit 1
export HOME=$work/home

# same SENTENCE WANTED GOT: lists of words, in any order.
same() {
	if [ "$(echo "$2" | sort)" = "$(echo "$3" | sort)" ]; then
		passed "$1"
		return
	fi
	missed "$1"
	diff <(echo "$2" | sort) <(echo "$3" | sort) | sed -n 's/^[<>]/# &/p'
}

verbs() {
	"$program" help | sed -n 's/^  \([a-z-]*\)  .*/\1/p'
}

# The options of a verb, as its help has them, with their values.
specs() {
	"$program" "$1" --help | sed -n '/^options:/,$ s/^  *\(-[^ ].*\)/\1/p' |
		sed 's/   *[a-z].*//'
}

options() {
	specs "$1" | tr -d , | tr ' ' '\n' | grep '^-'
}

# "--layout auto triton inductor": the options of a verb that want a word.
choices() {
	specs "$1" | sed -n 's/^.*\(--[a-z-]*\) \([a-z|]*|[a-z|]*\)$/\1 \2/p' |
		tr '|' ' '
}

# What bash offers at the end of a line; $1 is cut as bash would cut it.
ask_bash() {
	bash --norc -c '
		source "$1"
		COMP_LINE=$2 COMP_POINT=${#2}
		read -ra COMP_WORDS <<<"${2//:/ : }"
		[[ $2 != *[[:space:]:] ]] || COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		"$(complete -p tkbundle | sed "s/.*-F \([^ ]*\).*/\1/")"
		[[ ${#COMPREPLY[@]} -eq 0 ]] ||
			printf "%s\n" "${COMPREPLY[@]}"
	' ask "$files/tkbundle.bash" "$1"
}

# shellcheck disable=SC2016 # $argv is fish's
ask_fish() {
	fish --no-config -c '
		source $argv[1]
		complete -C $argv[2]
	' "$files/tkbundle.fish" "$1" | cut -f 1 | sed 's|/$||'
}

# The specifications that zsh is given for a verb, one a line.
ask_zsh() {
	zsh -f -c '
		_arguments() {
			if [[ -n $state ]]; then
				print -rl -- "$@"
			else
				state=operands words=($verb)
			fi
		}
		verb=$2
		source $1
	' ask "$files/_tkbundle" "$1"
}

# The options in such specifications: "(-j --jobs)-j+[...]" is "-j".
zsh_options() {
	ask_zsh "$1" | sed -n 's/^\(([^)]*)\)*\**\(-[A-Za-z-]*\)[+=]*\[.*/\2/p'
}

# ask SHELL LINE WANTED...: what a shell offers.
ask() {
	local shell=$1 line=$2

	shift 2
	same "$shell: '$line'" "$(printf '%s\n' "$@")" "$("ask_$shell" "$line")"
}

# What bash and fish offer besides options.
check_words() {
	ask "$1" 'tkbundle ver' verify
	ask "$1" 'tkbundle help ver' verify
	ask "$1" 'tkbundle collect --profile l' lean
	ask "$1" 'tkbundle verify ' a.tkb 'b c.tkb' cold warm
	ask "$1" 'tkbundle verify a' a.tkb
	ask "$1" 'tkbundle ls ./a' ./a.tkb
	ask "$1" 'tkbundle collect -o ' a.tkb 'b c.tkb' cold warm
	ask "$1" 'tkbundle collect ' cold warm
	ask "$1" 'tkbundle collect -n w' warm
	ask "$1" 'tkbundle emit a.tkb w' warm
	ask "$1" 'tkbundle emit --key A a.tkb w' warm
	ask "$1" 'tkbundle emit --key '
	ask "$1" 'tkbundle nonsense --'
}

# What bash and fish offer for an engine and a tree.
check_caches() {
	local -x TKBUNDLE_ENGINES=$work/engines

	ask "$1" 'tkbundle run --engine m' mine
	ask "$1" 'tkbundle emit a.tkb --tree x=w' "$2"
}

check_bash() {
	local verb option words

	same "bash: 'tkbundle '" "$(verbs; printf '%s\n' -h --help)" \
		"$(ask_bash 'tkbundle ')"
	for verb in $(verbs); do
		same "bash: every option of $verb" "$(options "$verb")" \
			"$(ask_bash "tkbundle $verb -")"
		while read -r option words; do
			# shellcheck disable=SC2086 # one word each
			ask bash "tkbundle $verb $option " $words
			# shellcheck disable=SC2086
			ask bash "tkbundle $verb $option=" $words
		done < <(choices "$verb")
	done

	check_words bash
	check_caches bash x=warm
	# Folders are for Inductor's and Triton's caches alone.
	ask bash 'tkbundle emit a.tkb ' cold warm
	ask bash 'tkbundle emit b\ c.tkb ' cold warm
	ask bash 'tkbundle collect -o -' -
	ask bash 'tkbundle show -- a.tkb -'
	# bash has cut the word behind the colon.
	ask bash 'tkbundle emit --target cuda:9' 90
	ask bash 'tkbundle emit --target=cuda:9' 90
	ask bash 'tkbundle emit --target h' hip
}

check_fish() {
	local verb option words

	same "fish: 'tkbundle '" "$(verbs | grep -v '^-')" \
		"$(ask_fish 'tkbundle ')"
	ask fish 'tkbundle -' -h --help --version
	for verb in $(verbs); do
		same "fish: every option of $verb" "$(options "$verb")" \
			"$(ask_fish "tkbundle $verb -")"
		while read -r option words; do
			# shellcheck disable=SC2086 # one word each
			ask fish "tkbundle $verb $option " $words
		done < <(choices "$verb")
	done

	check_words fish
	check_caches fish x=warm
	ask fish 'tkbundle emit --target cuda:9' cuda:90
}

check_zsh() {
	local verb option words

	same "zsh: every verb" "$(verbs | grep -v '^-')" "$(
		zsh -f -c '
			_arguments() { : }
			_describe() { print -rl -- "${(@P)4%%:*}" }
			source $1
			_tkbundle_verbs
		' ask "$files/_tkbundle")"
	for verb in $(verbs | grep -v '^-'); do
		same "zsh: every option of $verb" "$(options "$verb")" \
			"$(zsh_options "$verb")"
		while read -r option words; do
			same "zsh: the words of $option" "($words)" \
				"$(ask_zsh "$verb" | grep -F -- "$option=" |
					grep -o '([^()]*)$')"
		done < <(choices "$verb")
	done
}

# The names that the file $1 lacks.
lacking() {
	local verb name

	for verb in $(verbs); do
		for name in "$verb" $(options "$verb") $(choices "$verb"); do
			# fish has an option's name without its hyphens.
			grep -qE "(^|[^a-z])${name##*([-])}([^a-z]|$)" "$1" ||
				echo "$name"
		done
	done
}

# What the help says of verbs and options, and the file $1 does not.
unsaid() {
	local verb text

	{
		"$program" help | sed -n 's/^  [a-z][a-z]*  *//p'
		for verb in $(verbs); do
			"$program" "$verb" --help | sed '1,/^options:/d' |
				sed 's/^  *-.*[^ ]   *//; s/^  *//; /^-/d'
		done
	} | sort -u | while read -r text; do
		sed "s/[\\]\([':]\)/\1/g" "$1" | grep -qF -- "$text" ||
			echo "$text"
	done
}

for file in tkbundle.bash _tkbundle tkbundle.fish; do
	same "$file has every verb, option and word" "" \
		"$(lacking "$files/$file")"
done
for file in _tkbundle tkbundle.fish; do
	same "$file says what the help says" "" "$(unsaid "$files/$file")"
done

same "bash can read it" "" "$(bash -n "$files/tkbundle.bash" 2>&1)"
check_bash
if command -v zsh >"$work/found"; then
	same "zsh can read it" "" "$(zsh -n "$files/_tkbundle" 2>&1)"
	check_zsh
else
	skipped "zsh can read it" "there is no zsh"
fi
if command -v fish >"$work/found"; then
	same "fish can read it" "" "$(fish -n "$files/tkbundle.fish" 2>&1)"
	check_fish
else
	skipped "fish can read it" "there is no fish"
fi

ended
