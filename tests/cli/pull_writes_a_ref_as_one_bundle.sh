# SPDX-License-Identifier: Apache-2.0
cache cache
try tkbundle push a cache --remote remote --key 5DJU
try tkbundle push a cache --remote remote
try tkbundle pull a -o a.tkb --remote remote
try tkbundle verify a.tkb
tkbundle collect cache -o all.tkb >collected
try tkbundle diff a.tkb all.tkb
try_line 'tkbundle pull a -o - --remote remote | cmp - a.tkb'
try_line 'tkbundle pull a -o pipe --remote remote >words; ls pipe'
try tkbundle pull a -o /dev/null --remote remote

# On failure nothing is left, and what is there stays.
try tkbundle pull absent -o b.tkb --remote remote
try tkbundle pull absent -o a.tkb --remote remote
try_line 'tkbundle pull a -o - --remote remote >/dev/full'
try tkbundle push small cache --remote remote --key OHLE
try_line 'tkbundle pull small -o - --remote remote >/dev/full'
try tkbundle pull a -o no/a.tkb --remote remote
for blob in remote/cas/*/*; do
	damage "$blob" 100
done
try tkbundle pull a -o a.tkb --remote remote | sed 's/[0-9a-f]\{64\}/$DIGEST/g'
try_line 'tkbundle pull a -o - --remote remote 2>&1 >out | sed s/blob\ .*has/blob\ has/'
ls
try tkbundle verify a.tkb
