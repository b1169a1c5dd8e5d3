# SPDX-License-Identifier: Apache-2.0
cache cache
mv cache ./-cache
try tkbundle ls -cache
try tkbundle ls -- -cache
try tkbundle collect -o -a.tkb -- -cache
try tkbundle ls -- -a.tkb
try tkbundle ls -- -a.tkb --json
try tkbundle show -- -cache -x
