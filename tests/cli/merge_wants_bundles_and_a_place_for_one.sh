# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache --key 5D -o a.tkb >/dev/null
try tkbundle merge
try tkbundle merge -o m.tkb
try tkbundle merge a.tkb
try tkbundle merge a.tkb a.tkb --json
try tkbundle merge - - -o m.tkb
try tkbundle merge a.tkb -o - --json
try tkbundle merge a.tkb -o m.tkb --profile lean
[ ! -e m.tkb ]
