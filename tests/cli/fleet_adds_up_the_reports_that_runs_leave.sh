# SPDX-License-Identifier: Apache-2.0
# Times pass, and whether reading is noted depends on the file system.
export TKBUNDLE_REMOTE=$PWD/remote XDG_STATE_HOME=$PWD/state
cache cache
{
	tkbundle push model cache
	tkbundle run --ref model --cache warm --node gpu-7 -- true
	# A kernel that nobody has: a copy under another key.
	tkbundle run --ref model --cache cold --push never -- sh -c \
		'cp -r cold/5DJU* cold/5DJUWXT22BVRYP25OPBYUCN7RE5SDRYAU5FI7SUCRVLO5BOTFZXB'
} >words 2>&1
masked() {
	sed 's/ in [0-9]*s,/ in $AGE,/; s/ used [0-9]*,/ used $N,/;
		s/ [0-9]*s  \(gpu-7\|unknown\)/ $AGE  \1/; /emitted and not used/,$d'
}
tkbundle fleet | masked | sed '/^ *100%/d; /^compiled  starts/,$d'
tkbundle fleet model --json | json | sed -n 's/^ *\("\(ref\|starts\|unread\|cold\|failed\|emitted\|compiled\)": [^[]*\)$/\1/p' | head -n 7
tkbundle fleet --metrics metrics >words
grep -v '^#' metrics | grep 'starts\|compiled{' | grep -v reason
# Those of all refs, however many there are.
for n in $(seq 40); do
	cp -r remote/ref/@starts,model "remote/ref/@starts,m$n"
done
tkbundle fleet --metrics metrics >words
grep -c '^tkbundle_fleet_starts{' metrics
grep '^tkbundle_fleet_success' metrics
rm -r remote/ref/@starts,m[0-9]*
# One file for each, of at most 2 kB, which names no place.
find remote/ref/@starts,model -type f -size -3 | wc -l | tr -d ' '
cat remote/ref/@starts,model/* | grep -c "$PWD" || true
# They are no refs, and nobody may push there.
tkbundle refs | tail -n 1
try tkbundle push @starts/model cache
try tkbundle fleet other
# Old ones do not count, and go; those of strangers do no harm.
touch -d '31 days ago' remote/ref/@starts,model/*
try tkbundle fleet
printf '{"made":[[1,{}],"x"],"format":"tkbundle-start-report","version":1,"reasons":[]}' >report
cp report "remote/ref/@starts,model/$(sha256sum report | cut -c -64)"
printf 'no report' >report
cp report "remote/ref/@starts,model/$(sha256sum report | cut -c -64)"
# The name of a GPU is cut within a letter.
printf '{"gpu":"%059d\303\251","format":"tkbundle-start-report","version":1}' 0 >report
cp report "remote/ref/@starts,model/$(sha256sum report | cut -c -64)"
tkbundle fleet model | masked | head -n 2
tkbundle fleet --json | json | grep '"starts"\|"unread"' | head -n 2
tkbundle gc --remote - | sed 's/(.*) in.*:/(SIZE):/'
ls remote/ref/@starts,model | wc -l | tr -d ' '
tkbundle refs --delete model
ls remote/ref/@starts,model | wc -l | tr -d ' '
# A remote that cannot be written hinders nothing.
tkbundle push model cache >words
tkbundle run --remote "$PWD/remote?mode=ro" --ref model --cache third -- echo started 2>words
ls remote/ref
