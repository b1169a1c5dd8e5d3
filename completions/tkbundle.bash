# SPDX-License-Identifier: Apache-2.0
# Completion of tkbundle for bash; tests/program/completions.sh holds it against
# the program.

# Set `options` to those of verb $1.
_tkbundle_options() {
	case $1 in
	--version)
		options="--verbose" ;;
	attest)
		options="--remote --sign --expires --stage --passphrase-file
			--passphrase-command --python --ptxas --deadline -j --jobs
			--json -n --dry-run" ;;
	collect)
		options="-o --output --engine --tree --key --device --profile
			--no-modules --strip-locations --settle --strict -j --jobs --json
			-n --dry-run -v --verbose" ;;
	compile)
		options="--target --cache -j --jobs --ptxas --cubin-with
			--ptxas-option -I --include -D --define --libdevice
			--optimize --name --num-warps --num-stages --metadata
			--finalize --keep --bind --bind-from --without --fast --quant --rules
			--signature --python --keep-going --strict --winners --emit -o --output
			--print-after-all --log
			--deadline --json -v --verbose" ;;
	config)
		options="--engine --get --json" ;;
	diff)
		options="--engine --tree --json" ;;
	doctor)
		options="--engine --tree --ref --remote --wait --deep --json" ;;
	emit)
		options="--engine --tree --key --device --target --layout --sync
			--deadline -j --jobs --json -n --dry-run" ;;
	export)
		options="--format -o --output --root --layout --deadline -j --jobs
			--json -v --verbose" ;;
	fleet)
		options="--remote --deadline --metrics --json" ;;
	gc)
		options="--remote --engine --tree --max-size --max-entries --max-age --revoked --trust
			--sign --expires --passphrase-file --passphrase-command
			--deadline --metrics --json -n --dry-run" ;;
	help)
		options="" ;;
	import)
		options="-o --output --engine --tree --profile --no-modules
			--trust --strict --deadline -j --jobs --json -n --dry-run
			-v --verbose" ;;
	key)
		options="--kind --encrypt --passphrase-file --passphrase-command
			--public --json" ;;
	launcher)
		options="--signature --num-warps --num-stages --grid --out-name
			--link -o --output" ;;
	ls)
		options="--remote --deadline --files -l --long --json" ;;
	merge)
		options="-o --output --json" ;;
	promote)
		options="--to --remote --sign --expires --trust --passphrase-file
			--passphrase-command --deadline --json -n --dry-run" ;;
	pull)
		options="--remote --engine --tree -o --output --best-effort --trust
			--deadline --metrics --key --device --target --layout
			--sync -j --jobs --json -n --dry-run -v --verbose" ;;
	push)
		options="--remote --engine --tree --bundle --layout --as --mount --format --label --sign --expires
			--trust --passphrase-file --passphrase-command --deadline
			--metrics --key --device --profile --no-modules --no-compaction
			--again --settle --strict -j --jobs --json -n --dry-run -v --verbose" ;;
	refs)
		options="--remote --delete -l --long --trust --deadline --json" ;;
	relocate)
		options="--engine --tree --deadline --json -n --dry-run" ;;
	report)
		options="-o --output --remote --deadline" ;;
	revoke)
		options="--remote --ref --sign --expires --trust --passphrase-file
			--passphrase-command --deadline --json" ;;
	run)
		options="--ref --remote --engine --tree --cache --trust --wait --deadline
			--push --ready-url --ready-file --quiet --require-warm --kill-child --node --metrics --refresh
			--json -v --verbose" ;;
	show)
		options="--file --stage --json" ;;
	sign)
		options="--remote --key --expires --stage --all --export --import --passphrase-file
			--passphrase-command --deadline --json -n --dry-run" ;;
	stats)
		options="--paths --used --engine --tree --json" ;;
	verify)
		options="--remote --repair --engine --tree --trust --deadline -j --jobs
			--json" ;;
	why)
		options="--last --remote --deadline --json" ;;
	*)
		return ;;
	esac
	options+=" -h --help"
}

# What option $2 of verb $1 wants: words, or where they come from; nothing for a
# switch.
_tkbundle_value() {
	case $1:$2 in
	compile:-o | compile:--output | export:-o | export:--output | \
		report:-o | report:--output | \
		launcher:-o | launcher:--output)
		value=:file ;;
	export:--format)
		value="tar.gz tar.zst zip" ;;
	export:--root)
		value=:cache ;;
	compile:--quant)
		value="dynamic static weight-only" ;;
	compile:--emit)
		value="ttir ttgir llir ptx cubin sass amdgcn hsaco" ;;
	compile:--cubin-with)
		value="ptxas nvjitlink" ;;
	compile:--target)
		value="cuda:75 cuda:80 cuda:86 cuda:89 cuda:90 cuda:100 cuda:120 hip:gfx90a hip:gfx942 hip:gfx950 hip:gfx1100" ;;
	compile:-I | compile:--include | sign:--export)
		value=:cache ;;
	*:--ptxas | compile:--libdevice | compile:--metadata | \
		compile:--bind-from | compile:--rules | *:--python | compile:--log)
		value=:file ;;
	compile:-D | compile:--define | *:--ptxas-option | *:--name | \
		*:--num-* | compile:--keep | compile:--bind | *:--without | *:--signature | *:--grid | *:--out-name)
		value=:none ;;
	*:-o | *:--output | push:--bundle)
		value=:bundle ;;
	key:--kind)
		value="ed25519 p256" ;;
	*:--passphrase-file | *:--trust | *:--sign | sign:--key | sign:--import)
		value=:file ;;
	*:--passphrase-command | *:--expires | *:--to)
		value=:none ;;
	*:--profile)
		value="full lean" ;;
	push:--as)
		value="bundle image" ;;
	push:--mount)
		value=:cache ;;
	push:--format)
		value="tar.gz tar.zst" ;;
	push:--layout)
		value="tkb triton" ;;
	*:--layout)
		value="auto triton inductor" ;;
	attest:--stage | sign:--stage)
		value="dev prod" ;;
	*:--stage)
		value="ptx llir ttir ttgir glir source cubin sass amdgcn hsaco" ;;
	*:--target)
		value="cuda cuda:80 cuda:89 cuda:90 cuda:100 cuda:120 hip xpu" ;;
	*:--metrics)
		value=:file ;;
	*:--engine)
		value=:engine ;;
	import:--tree)
		value=:none ;;
	*:--tree)
		value=:tree ;;
	*:--remote | *:--cache)
		value=:cache ;;
	*:--push)
		value="always on-exit never" ;;
	*:--key | *:--device | *:--file | *:-j | *:--jobs | *:--max-* | \
		*:--deadline | *:--delete | *:--ref | *:--wait | *:--quiet | \
		*:--settle | *:--ready-url | *:--label | *:--again | *:--node)
		value=:none ;;
	*)
		value= ;;
	esac
}

# What operand number $2 of verb $1 is.
_tkbundle_operand() {
	case $1:$2 in
	help:1)
		value=$verbs ;;
	emit:1 | export:1 | merge:*)
		value=:bundle ;;
	diff:[12] | doctor:1 | why:[23] | ls:1 | report:1 | show:1 | stats:1 | verify:1)
		value=:either ;;
	collect:1 | emit:2 | gc:1 | pull:2 | push:2 | relocate:1)
		value=:cache ;;
	key:1)
		value="new show" ;;
	import:1 | key:2)
		value=:file ;;
	launcher:1)
		value=:either ;;
	run:1)
		value=:command ;;
	compile:* | launcher:* | run:*)
		value=:file ;;
	*)
		value=:none ;;
	esac
}

# The engines that the program has a profile of.
_tkbundle_engines() {
	local program folder path

	program=$(type -P tkbundle) || program=
	for folder in "$TKBUNDLE_ENGINES" \
		"${XDG_CONFIG_HOME:-$HOME/.config}/tkbundle/engines" \
		"${program%/*}/../share/tkbundle/engines"; do
		for path in "$folder"/*.json; do
			path=${path##*/}
			[[ $path == '*.json' ]] || echo "${path%.json}"
		done
	done
}

# Complete $2 by what $1 stands for.
_tkbundle_reply() {
	case $1 in
	:none)
		return ;;
	:bundle | :either)
		[[ $2 != - ]] || { COMPREPLY=(-); return; }
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(
			compgen -d -- "$2"
			compgen -f -X '!*.tkb' -- "$2"
		) ;;
	:engine)
		mapfile -t COMPREPLY < <(
			compgen -W "$(_tkbundle_engines | sort -u)" -- "$2"
		) ;;
	:tree)
		[[ $2 == *=* ]] || return
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(
			compgen -d -P "${2%%=*}=" -- "${2#*=}"
		) ;;
	:command)
		mapfile -t COMPREPLY < <(compgen -c -- "$2") ;;
	:file)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
	:cache)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
	*)
		mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2") ;;
	esac
}

_tkbundle() {
	local verbs="attest collect compile config diff doctor emit export fleet gc help
		import key launcher ls merge promote pull push refs relocate
		report revoke run show sign stats verify why"
	local options='' value='' word i count=0
	local -a words

	# bash cuts words at "=" and ":" as well.
	COMPREPLY=()
	# shellcheck disable=SC2162 # "\ " does not end a word
	read -a words <<<"${COMP_LINE:0:COMP_POINT}"
	[[ ${COMP_LINE:0:COMP_POINT} != *[[:space:]] ]] || words+=("")
	word=${words[-1]}

	if ((${#words[@]} == 2)); then
		_tkbundle_reply "$verbs --version --help -h" "$word"
		return
	fi

	_tkbundle_options "${words[1]}"
	for ((i = 2; i < ${#words[@]} - 1; i++)); do
		if [[ ${words[i]} == -- ]]; then
			options=
		elif [[ -n $options && ${words[i]} == -?* ]]; then
			_tkbundle_value "${words[1]}" "${words[i]}"
			[[ -z $value ]] || ((i++))
		else
			((count++))
		fi
	done

	# An option that wants a value has taken the word at hand.
	if ((i == ${#words[@]})); then
		:
	elif [[ -n $options && $word == --*=* ]]; then
		_tkbundle_value "${words[1]}" "${word%%=*}"
		word=${word#*=}
	elif [[ -n $options && $word == -* ]]; then
		value=$options
	else
		_tkbundle_operand "${words[1]}" $((count + 1))
	fi

	[[ -z $value ]] || _tkbundle_reply "$value" "$word"
	# Of what it has cut, bash wants the last piece alone.
	[[ $COMP_WORDBREAKS != *:* ]] ||
		COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*:}"}"}")
}

complete -F _tkbundle tkbundle
