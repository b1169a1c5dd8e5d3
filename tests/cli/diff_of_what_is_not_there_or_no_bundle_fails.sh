# SPDX-License-Identifier: Apache-2.0
cache cache
echo text >text
try tkbundle diff cache nowhere
try tkbundle diff nowhere cache
try tkbundle diff cache text
try tkbundle diff cache
try tkbundle diff cache cache cache
tkbundle diff --json cache nowhere 2>/dev/null | json
