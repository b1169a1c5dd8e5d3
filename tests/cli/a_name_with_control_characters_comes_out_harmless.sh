# SPDX-License-Identifier: Apache-2.0
cache cache
mv cache/5D* "$(printf 'cache/5D\033[1m\nX')"
folder=$(printf 'red \033[31m')
mv cache "$folder"
try_line 'tkbundle verify "$folder"'
try_line 'tkbundle collect "$folder" -o "$folder.tkb"'
try_line 'tkbundle ls "$folder"'
try_line 'tkbundle ls "$folder" --json 2>/dev/null >document'
grep -c "$(printf '\033')" document || true
json <document | grep -i u001b
name=$(printf 'nowhere\377\302\233é')
try_line 'tkbundle ls "$name"'
verb=$(printf 'bad\033verb')
try_line 'tkbundle "$verb"'
bidi=$(printf 'a\342\200\256b\342\200\250c\342\201\246d\330\234e\342\200\213f')
mv "$folder" "$bidi"
try_line 'tkbundle verify "$bidi"'
try_line 'tkbundle ls "$bidi" --json 2>/dev/null >document'
LC_ALL=C grep -c "$(printf '\342')" document || true
try_line 'tkbundle ls "$bidi-is-not-there"'
