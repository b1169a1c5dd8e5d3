# SPDX-License-Identifier: Apache-2.0
# Seconds pass, and sizes are zstd's.
list() {
	tkbundle refs --remote remote "$@" >list || echo "exit $?"
	sed 's/ \{2,\}[0-9.]* k*M*B \{2,\}/  $SIZE  /; s/ [0-9]*s\(  triton.*\)*$/ $AGE\1/; s/20[0-9-]* [0-9:]*Z/$TIME/' list
}
mkdir remote
try tkbundle refs --remote remote
try_line 'tkbundle refs --remote remote --json | json'
cache cache
{
	tkbundle push a cache --remote remote --key 5DJU
	tkbundle push a cache --remote remote
	tkbundle push team/b cache --remote remote
	tkbundle push team/c cache --remote remote
} >words
touch -d '3 hours ago' remote/ref/team,b/*
touch -d '40 days ago' remote/ref/team,c/*
list
list 'team/*'
list '*[ab]'
list 'team/?' --json | json | sed 's/\("size": \)[0-9]*/\1$SIZE/; s/"age": [0-9]*/"age": $AGE/'
try tkbundle refs --remote remote 'x*'
try_line 'tkbundle refs --remote remote "x*" --json | json'

try tkbundle refs --remote remote --delete 'team/*'
try tkbundle refs --remote remote --delete team/b
try tkbundle refs --remote remote --delete team/b
try_line 'tkbundle refs --remote remote --delete team/c --json | json'
list
try tkbundle refs --remote remote --delete a b
try tkbundle refs --remote remote --delete a -l
try env TKBUNDLE_DISABLE=1 tkbundle refs --remote remote --delete a
try tkbundle refs --remote absent

# Who pushed what.
tkbundle push d cache --key 5DJU --remote remote --label commit=4f2a --label by=ci >words
tkbundle push d cache --remote remote --label commit=51b0 >words
tkbundle push d cache --remote remote --label commit=again >words
list -l d
list d --json | json | sed 's/"time": [0-9.]*/"time": $TIME/' | sed -n '/"triton"/,$p'
for label in x A=b a= commit; do
	try tkbundle push d cache --remote remote --label "$label"
done
try tkbundle push d cache --remote remote --label a=b --label a=c
try tkbundle push d cache --remote remote --label "a=$(printf 'a\033b')"

# A newer tkbundle has been there.
printf '{"records":"of another kind"}' >record
mkdir remote/ref/newer
mv record "remote/ref/newer/$(sha256sum record | cut -c -64)"
list
tkbundle refs newer --remote remote --json | json
try tkbundle refs --delete newer --remote remote

# What cannot be removed is named.
tkbundle push a cache --remote denied >words
chmod 555 denied/ref/a
try_line 'powerless tkbundle refs --delete a --remote denied 2>&1 |
	sed "s/[0-9a-f]\{64\}/\$DIGEST/"'
chmod 755 denied/ref/a
