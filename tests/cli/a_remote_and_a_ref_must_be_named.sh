# SPDX-License-Identifier: Apache-2.0
for verb in 'push a' 'pull a' refs 'refs --delete a' 'gc --remote -'; do
	try_line "tkbundle $verb"
	try_line "tkbundle $verb --remote ''"
	try_line "tkbundle $verb --remote"
done
try tkbundle push --remote remote
try tkbundle pull --remote remote
try tkbundle refs --delete - --remote remote
try tkbundle pull - --remote remote
try tkbundle pull '' --remote remote
for ref in 'a b' a//b /a a/ .a a/.b '*' "$(printf 'a%0200d' 0)"; do
	try tkbundle pull "$ref" --remote remote
done
