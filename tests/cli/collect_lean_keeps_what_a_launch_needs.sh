# SPDX-License-Identifier: Apache-2.0
cache cache
try tkbundle collect cache -o a.tkb --profile lean
tkbundle ls --files a.tkb
tkbundle show a.tkb 5D --file __grp__add_kernel.json
echo
tkbundle collect --profile=lean --json cache -n | json | grep profile
tkbundle collect --profile full --json cache -n | json | grep profile
try tkbundle collect cache -o a.tkb --profile thin
try tkbundle emit a.tkb out
try tkbundle verify out
try tkbundle collect out -o full.tkb
cat out/5D*/__grp__* && echo
