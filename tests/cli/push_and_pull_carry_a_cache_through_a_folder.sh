# SPDX-License-Identifier: Apache-2.0
cache cache
try tkbundle push model/h100 cache --remote remote -n
try test ! -e remote
try tkbundle push model/h100 cache --remote remote
try tkbundle push model/h100 cache --remote "file://$PWD/remote"

rm -r cache
try tkbundle pull model/h100 cache --remote remote -n
try test ! -e cache
try tkbundle pull model/h100 cache --remote remote
try tkbundle verify cache
try tkbundle pull model/h100 cache --remote remote
try tkbundle pull model/h100 cache --remote remote -n

# Only what is missing is fetched, and only what is lacking is pushed.
rm -r cache/5DJU*
try tkbundle push other cache --remote remote
try tkbundle pull model/h100 cache --remote remote
try tkbundle push other cache --remote remote
try tkbundle push other cache --remote remote
