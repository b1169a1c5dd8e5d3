#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Run examples/{k8s,systemd,slurm,ci} as far as a machine without them can.
#
#     examples_ops.sh PROGRAM SOURCE_FOLDER
#
# Scripts run as they are; commands are taken out of the YAML and the units,
# with paths and the remote replaced by folders. Servers are stand-ins that say
# how many kernels they found, and "compile" by unpacking a cache. As root, each
# command is its user's, who is somebody else. Prints TAP; the exit status is 1
# if something is amiss.
# shellcheck disable=SC2317,SC2329 # functions are called by holds()

program=$(realpath "$1") || exit 2
source=$(realpath "$2") || exit 2
examples=$source/examples

# shellcheck source=tests/support/tap.sh
. "$(dirname "$0")/../support/tap.sh"
begin ops
cd "$work" || exit 1

unset TRITON_CACHE_DIR TRITON_HOME TORCHINDUCTOR_CACHE_DIR
# shellcheck disable=SC2046 # one word each
unset $(env | sed -n 's/^\(TKBUNDLE_[A-Za-z0-9_]*\)=.*/\1/p')
system_path=$PATH
export HOME="$work/home" PATH="$work/bin:$PATH"
export TKBUNDLE_CONFIG=/dev/null
# The machine may be busy, and what is waited for comes.
export TKBUNDLE_WAIT=60s
export PYTHONDONTWRITEBYTECODE=1
umask 022
mkdir bin home store tmp
# In a namespace, root may have no other users.
others=
[ "$(id -u)" != 0 ] || ! setpriv --reuid=10001 --regid=10002 --groups=10000 \
	true 2>/dev/null || others=yes
export TKB_OTHERS="$others"
# Other users have to reach what they run, and the remote.
chmod 0711 .
chmod 0777 store
# Those without a home have their notes of starts there.
chmod 1777 tmp
export TMPDIR="$work/tmp"

script() {
	cat >"bin/$1"
	chmod +x "bin/$1"
}

# Is it what was said last?
says() {
	grep -q -- "$1" "$2" || {
		echo "no '$1' in:"
		cat "$2"
		return 1
	}
}

# What examples name and a test cannot have. The program may lie where other
# users cannot go.
cp "$program" bin/tkbundle
ldd "$program" | while read -r name _ path _; do
	case $name in
	libtkbundle*)
		# The program loads the one for remotes from beside it.
		remote=libtkbundle-remote${name#libtkbundle}
		cp "$path" "bin/$name"
		cp "${path%/*}/$remote" "bin/$remote"
		;;
	esac
done
export LD_LIBRARY_PATH="$work/bin${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
tar -xzf "$source/fixtures/triton-3.6.0-h100.tar.gz"
"$program" collect .triton/cache -o all.tkb >/dev/null || exit 1
entries=17
script serve <<'END'
#!/bin/sh
echo "served with $(ls "$TRITON_CACHE_DIR" 2>/dev/null | wc -l) kernels"
if [ -n "$STAND_IN_COMPILES" ]; then
	tkbundle emit "$STAND_IN_COMPILES" "$TRITON_CACHE_DIR" >/dev/null
fi
if [ -n "$STAND_IN_STAYS" ]; then
	trap 'echo stopped; exit 0' TERM
	touch "$STAND_IN_STAYS"
	while :; do sleep 0.05; done
fi
END
script warm-up <<'END'
#!/bin/sh
exec serve
END
export STAND_IN_COMPILES="$work/all.tkb"

# --- ci

ci() {
	TKBUNDLE_REMOTE=$work/store "$examples/ci/push.sh" "$@"
}

ci_shares() {
	ci llama/h100 .triton/cache one.tkb >out && cat out &&
		says "^pushed $entries, present 0" out &&
		says "^llama/h100 .* $entries " out && cmp one.tkb all.tkb
}

ci_again() {
	ci llama/h100 .triton/cache one.tkb >out && cat out &&
		says "^pushed 0, present $entries" out
}

ci_partial() {
	cp -r .triton/cache torn && truncate -s 100 torn/KRJX*/add_kernel.cubin
	ci torn/h100 torn torn.tkb >out 2>&1 && says "left out KRJX" out &&
		says "^pushed $((entries - 1))" out
}

ci_fails() {
	! TKBUNDLE_REMOTE=/dev/null/x "$examples/ci/push.sh" a .triton/cache \
		b.tkb && ! "$examples/ci/push.sh"
}

holds "ci: push.sh keeps the kernels and shares them" ci_shares
holds "ci: push.sh pushes nothing where nothing is new" ci_again
holds "ci: push.sh shares the rest of a cache with a torn entry" ci_partial
holds "ci: push.sh fails where the remote does, or without a ref" ci_fails

# --- k8s and GitHub

python=
for one in "$source/build/venv/bin/python3" python3; do
	"$one" -c 'import yaml' 2>/dev/null && python=$one && break
done

list_containers() {
	"$python" "$source/tests/program/examples_yaml.py" pods "$work" \
		"$examples"/k8s/*.yaml >containers
}

# Run container $1.
container() {
	line=$(grep "^$1	" containers) || {
		echo "there is no container $1"
		return 1
	}
	echo "${line#*	}"
	TKBUNDLE_CONFIG='' sh -c "exec ${line#*	}" >out 2>err
	status=$?
	cat out err
	return $status
}

k8s_run() {
	container llama/server && says "served with $entries kernels" out &&
		says "^tkbundle: emitted $entries," err &&
		test -d "$work/volumes/host/var/cache/tkbundle/llama/cas"
}

k8s_run_from_node() {
	find volumes/llama -mindepth 2 -delete && mv store away
	container llama/server
	result=$?
	mv away store
	test $result -eq 0 && says "served with" out
}

k8s_init() {
	ci mixtral/h100 .triton/cache m.tkb && container mixtral/kernels &&
		container mixtral/server && says "with $entries kernels" out
}

# By the umask alone, the root would be the first user's only.
served_by_all() {
	root=volumes/mixtral/cache/triton
	kind=$(test -k "$root" && echo "-type d")
	# shellcheck disable=SC2086 # words
	find "$root" $kind ! -perm -0020 >closed
	! grep . closed || return 1
	# Its first new kernel, and a file that it adds to another.
	script serve-anew <<-'END'
	#!/bin/sh -e
	mkdir -p "$1/ANEW" "$1/$2/tmp.pid"
	echo {} >"$1/$2/tmp.pid/new.json"
	mv "$1/$2/tmp.pid/new.json" "$1/$2/"
	rmdir "$1/$2/tmp.pid" "$1/ANEW"
	END
	"$@" serve-anew "$work/$root" \
		"$(basename "$(find "$root" -name 'KRJX*')")"
}

k8s_init_users() {
	served_by_all setpriv --reuid=10002 --regid=10002 --groups=10000
}

# An image without a user, as root, in a volume for all.
k8s_init_root() {
	rm -rf volumes/mixtral && mkdir -p volumes/mixtral/cache &&
		chmod "$1" volumes/mixtral/cache &&
		grep '^mixtral/kernels' containers |
		sed 's/	setpriv .*--groups=[0-9]* /	/' >one || return 1
	mv containers all && mv one containers
	container mixtral/kernels
	result=$?
	mv all containers
	test $result -eq 0 && served_by_all setpriv --reuid=10002 \
		--regid=10002 --clear-groups
}

k8s_init_dead() {
	find volumes/mixtral -mindepth 2 -delete && mv store away
	container mixtral/kernels
	result=$?
	mv away store
	test $result -eq 0 && says "^tkbundle: " err &&
		container mixtral/server && says "with 0 kernels" out
}

k8s_volume() {
	container qwen-warm-up/warm-up && says "served with 0 kernels" out &&
		says "pushed $entries" err && container qwen/server &&
		says "served with $entries kernels" out
}

k8s_gc() {
	container kernels-gc/gc && says "^removed 0 blobs" out
}

steps() {
	"$python" "$source/tests/program/examples_yaml.py" jobs \
		"$examples/ci/github.yml" >steps || return 1
	mkdir checkout && ln -s "$examples" checkout/examples
	script python3 <<-'END'
	#!/bin/sh
	[ "$1" = warm_up.py ] && exec serve
	END
	cut -f 2 steps | while read -r step; do
		(cd checkout && export TRITON_CACHE_DIR="$work/checkout/cache" &&
			TKBUNDLE_REMOTE=$work/fresh sh -euc "$step" 2>&1) ||
			exit 1
	done >out
	result=$?
	rm bin/python3
	cat out
	test $result -eq 0 && says "has no record" out &&
		says "served with 0 kernels" out &&
		says "^pushed $entries" out && test -s checkout/kernels.tkb
}

schemas() {
	for file in "$examples"/k8s/*.yaml; do
		"$python" -m kubernetes_validate --strict "$file" || return 1
	done
}

if [ -n "$python" ]; then
	holds "k8s: what the objects name is there, and no secret in argv" \
		list_containers
	holds "k8s: run.yaml starts its server warm, and fills the node's tier" \
		k8s_run
	holds "k8s: run.yaml starts its server where the fleet's remote is gone" \
		k8s_run_from_node
	holds "k8s: init-container.yaml gives the server kernels" k8s_init
	if [ -n "$others" ]; then
		holds "k8s: init-container.yaml leaves the server what it can write" \
			k8s_init_users
		holds "k8s: so it does as root, in a volume for all" \
			k8s_init_root 0777
		holds "k8s: so it does in one that is sticky" \
			k8s_init_root 1777
	else
		skipped "k8s: two users share a cache" "it needs root, and other users"
	fi
	holds "k8s: init-container.yaml lets the server start cold" k8s_init_dead
	holds "k8s: volume.yaml: what the job compiles, the pod finds" k8s_volume
	holds "k8s: gc.yaml cleans up" k8s_gc
	holds "ci: the steps of github.yml pull, compile and push" steps
else
	skipped "k8s, github.yml: the commands run" "no Python has PyYAML"
fi
if [ -n "$python" ] && "$python" -c 'import kubernetes_validate' 2>/dev/null
then
	holds "k8s: the objects are what the API takes" schemas
else
	skipped "k8s: the objects are what the API takes" "no kubernetes-validate"
fi

if [ -n "$python" ] && "$python" -c 'import check_jsonschema' 2>/dev/null
then
	holds "ci: github.yml is what GitHub takes" "$python" \
		-m check_jsonschema --builtin-schema vendor.github-workflows \
		"$examples/ci/github.yml"
else
	skipped "ci: github.yml is what GitHub takes" "no check-jsonschema"
fi

# --- systemd

# The command of a unit in a shell's words, with paths that can be had here.
unit_command() {
	{
		sed -n 's/^Environment=/export /p' "$examples/systemd/$1"
		sed -n 's/^ExecStart=/exec /p' "$examples/systemd/$1"
	} | sed -e "s|%C|$work/sd/cache|g; s|%d|$work/sd/credentials|g" \
		-e "s|/usr/bin/|$work/bin/|g"
}

unit() {
	mkdir -p sd/cache sd/credentials sd/state
	unit_command "$1" >sd/command
	cat sd/command
	set -- sh sd/command
	# DynamicUser= and User=: folders and credentials are that user's.
	if [ -n "$others" ]; then
		chown -R 10003 sd
		set -- setpriv --reuid=10003 --regid=10003 --clear-groups "$@"
	fi
	env -i STATE_DIRECTORY="$work/sd/state" \
		STAND_IN_COMPILES="$STAND_IN_COMPILES" \
		STAND_IN_STAYS="$STAND_IN_STAYS" PATH="$PATH" TMPDIR="$TMPDIR" \
		LD_LIBRARY_PATH="$LD_LIBRARY_PATH" \
		TKBUNDLE_WAIT="$TKBUNDLE_WAIT" "$@" >out 2>err
}

unit_credentials() {
	mkdir -p sd/credentials sd/remote
	printf 'remote = %s\nref = llama/{arch}\n' "$work/sd/remote" \
		>sd/credentials/tkbundle.conf
}

# systemd's way to stop it: SIGTERM to the main process alone.
service_stops() {
	unit_credentials
	# Nothing here knows the architecture before there is a kernel.
	sed -i 's|{arch}|sm_90|' sd/credentials/tkbundle.conf
	STAND_IN_STAYS=$work/sd/up
	unit inference.service &
	job=$!
	for _ in $(seq 200); do
		[ ! -e sd/up ] || break
		sleep 0.05
	done
	read -r pid _ <"/proc/$job/task/$job/children"
	kill -TERM "$pid"
	wait $job
	STAND_IN_STAYS=
	cat out err
	says "stopped" out && says "pushed $entries" err
}

service_again() {
	rm -rf sd/cache
	unit inference.service
	cat out err
	says "served with $entries kernels" out && says "emitted $entries" err
}

gc_unit() {
	unit tkbundle-gc.service
	result=$?
	cat out err
	test $result -eq 0 && says "^removed 0 blobs" out &&
		says "^tkbundle_gc_success{" sd/state/gc.prom
}

verify_units() {
	mkdir -p units && cp "$examples"/systemd/*.service \
		"$examples"/systemd/*.timer units
	sed -i "s|/usr/bin/|$work/bin/|g" units/*.service
	systemd-analyze verify --man=no units/*.service units/*.timer \
		>said.units 2>&1
	result=$?
	# Of other units of this machine, too.
	grep -F "$work/units" said.units && return 1
	test $result -eq 0
}

holds "systemd: inference.service is told to stop, and shares its kernels" \
	service_stops
holds "systemd: inference.service starts warm the next time" service_again
holds "systemd: tkbundle-gc.service cleans up and leaves figures" gc_unit
if command -v systemd-analyze >/dev/null; then
	holds "systemd: systemd takes the units" verify_units
else
	skipped "systemd: systemd takes the units" "no systemd-analyze"
fi

# --- slurm

script runuser <<'END'
#!/bin/sh
user=$2
shift 3
[ -n "$TKB_OTHERS" ] || exec "$@"
case $user in
tkbundle) id=10001 ;;
*) id=10002 ;;
esac
exec setpriv --reuid=$id --regid=$id --clear-groups -- "$@"
END
script logger <<'END'
#!/bin/sh
cat >>"$LOGGED"
END
export LOGGED="$work/logged" NODE_CACHE="$work/node/triton"
export NODE_CONFIG="$work/node.conf"

# The prologs are root's, but for that of the task, which is the job's user's.
slurm() {
	set -- "$1" "${1%_prolog.sh}"
	cp "$examples/slurm/$1" bin
	if [ "$2" = task ]; then
		set -- runuser -u job -- "$work/bin/$1"
	else
		set -- "$work/bin/$1"
	fi
	SLURM_JOB_ID=${job_id:-42} SLURM_JOB_USER=job TMPDIR=$work/job "$@"
}

# As it is on a node: what belongs to whom.
mkdir node job
chmod 1777 job
[ -z "$others" ] || chown 10001:10001 node

prolog() {
	printf 'remote = %s?mode=ro\nref = llama/h100\n' "$work/store" \
		>node.conf
	slurm prolog.sh && cat logged && says "^emitted $entries" logged &&
		slurm prolog.sh && says "^emitted 0, present $entries" logged
}

prolog_dead() {
	echo "remote = $work/nowhere" >node.conf
	slurm prolog.sh && says "no ref is named" logged
}

prolog_hangs() {
	real=$(PATH=$system_path command -v timeout)
	script timeout <<-END
	#!/bin/sh
	shift 3
	exec "$real" -k 0.2 0.5 "\$@"
	END
	mv bin/tkbundle hidden
	script tkbundle <<-'END'
	#!/bin/sh
	trap '' TERM
	cd "${NODE_CACHE%/*}" || exit
	echo $$ >hanging
	for i in 1 2 3 4 5 6; do sleep 0.5; done
	touch late
	END
	slurm prolog.sh
	result=$?
	[ ! -e node/late ] || result=1
	kill -KILL "$(cat node/hanging)" 2>/dev/null
	rm bin/tkbundle bin/timeout && mv hidden bin/tkbundle
	return $result
}

task_prolog() {
	slurm task_prolog.sh >out && cat out &&
		says "^export TRITON_CACHE_DIR=$work/job/triton-42\$" out &&
		tkbundle verify job/triton-42 &&
		test "$(find job/triton-42 -name '__grp__*' | wc -l)" -eq 13 &&
		slurm task_prolog.sh >again && cmp out again
}

task_prolog_elsewhere() {
	mkdir other && ln -s "$work/other" job/triton-43
	[ -z "$others" ] || chown 10002 other
	job_id=43
	slurm task_prolog.sh >out
	result=$?
	job_id=
	test $result -eq 0 && ! grep . out && test -z "$(ls other)"
}

epilog() {
	slurm epilog.sh && test ! -e job/triton-42
}

holds "slurm: the prolog fetches the node's kernels, then nothing" prolog
holds "slurm: the prolog ends with 0 where it cannot" prolog_dead
holds "slurm: the prolog ends with 0 where tkbundle hangs" prolog_hangs
holds "slurm: the task prolog gives the job a root of its own" task_prolog
holds "slurm: the task prolog does not follow somebody else's link" \
	task_prolog_elsewhere
holds "slurm: the epilog removes it" epilog
# --- what docs/operations.md says, besides its examples

document=$source/docs/operations.md

# Those that are named as `subject.sentence`, or as `run: sentence`.
tests_exist() {
	# shellcheck disable=SC2016 # quotes of Markdown
	sed -n '/^| fault /,/^$/p' "$document" | grep -o '`[^`]*`' | tr -d '`' |
		grep -E '^((run|users|images): |[a-z_0-9]+\.[a-z_0-9]+$)' >named
	test "$(wc -l <named)" -gt 20 || return 1
	while read -r name; do
		case $name in
		"run: "* | "users: "* | "images: "*) set -- "@test(\"${name#*: }\"" ;;
		torture.*) set -- "def ${name#*.}(t):" ;;
		*) set -- "TEST(${name%%.*}, ${name#*.})" ;;
		esac
		cat "$source"/tests/*/*_test.c "$source"/tests/run/*.py "$source"/tests/users/*.py \
			"$source"/tests/images/*.py \
			"$source"/tests/torture/*.py |
			grep -q -F -- "$1" || echo "there is no $1"
	done <named >absent
	! grep . absent
}

figures_exist() {
	tkbundle push a .triton/cache --remote figures --metrics a.prom &&
		tkbundle pull a f --remote figures --metrics b.prom &&
		tkbundle gc --remote figures --metrics c.prom &&
		tkbundle run --ref a --remote figures --cache f \
			--metrics d.prom --ready-file ready -- \
			sh -c 'touch ready; sleep 1' || return 1
	sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' ./*.prom | sort >there
	listed_figures | sort >listed
	diff there listed || return 1
	grep -o 'tkbundle_[a-z]*_[a-z_]*' "$document" | sort -u |
		grep -v -x -F -f there >absent
	! grep . absent
}

# The table's names, whole.
listed_figures() {
	sed -n '/^| verb | names/,/^$/p' "$document" | while IFS='|' read -r \
		_ verb names _; do
		case $verb in
		*all*) verbs="push pull gc run" ;;
		*run* | *pull* | *push* | *gc*) verbs=$verb ;;
		*) continue ;;
		esac
		for verb in $verbs; do
			# shellcheck disable=SC2016 # quotes of Markdown
			echo "$names" | grep -o '`[a-z_]*`' | tr -d '`' |
				sed "s/^/tkbundle_${verb}_/"
		done
	done
}

messages_exist() {
	# shellcheck disable=SC2016 # quotes of Markdown
	sed -n '/^| message /,/^$/s/^| `\([^`]*\)` .*/\1/p' "$document" >named
	test "$(wc -l <named)" -gt 15 || return 1
	while read -r text; do
		grep -rqF -- "$text" "$source/src" "$source/tools" ||
			echo "nobody says '$text'"
	done <named >absent
	! grep . absent
}

holds "docs: each test that operations.md names is there" tests_exist
holds "docs: each figure that operations.md names is written" figures_exist
holds "docs: each message that operations.md explains is said" messages_exist
if command -v shellcheck >/dev/null; then
	holds "shellcheck has nothing to say" shellcheck \
		-x -P "$source" "$examples"/slurm/*.sh "$examples"/ci/*.sh \
		"$source/tests/program/examples_ops.sh"
else
	skipped "shellcheck has nothing to say" "no shellcheck"
fi

ended
