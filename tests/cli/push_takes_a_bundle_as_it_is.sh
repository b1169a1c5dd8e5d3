# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >collected
try tkbundle push a --bundle a.tkb --remote remote -n
try tkbundle push a --bundle a.tkb --remote remote
try tkbundle push a --bundle a.tkb --remote remote
try_line 'cat a.tkb | tkbundle push b --bundle - --remote remote'
try_line 'tkbundle push c --bundle - --remote remote <a.tkb'
find remote/cas -type f -exec cmp {} a.tkb \;
try tkbundle pull b warm --remote remote
try tkbundle verify warm

try tkbundle push a --bundle absent.tkb --remote remote
damage a.tkb
try tkbundle push d --bundle a.tkb --remote remote
try_line 'echo nonsense | tkbundle push d --bundle - --remote remote'
try tkbundle push d --bundle cache --remote remote
try tkbundle refs d --remote remote

# More than a pipe gives at once.
slow_cache big 1
"$python" -c 'import os; print("{\"timings\": \"" + os.urandom(2000000).hex() + "\"}")' \
	>"$(echo big/*/*)"
tkbundle collect big -o big.tkb >collected
try_line 'cat big.tkb | tkbundle push big --bundle - --remote remote'
try tkbundle pull big warm --remote remote
