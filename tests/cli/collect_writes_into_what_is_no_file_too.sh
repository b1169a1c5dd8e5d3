# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
try tkbundle collect cache -o /dev/null
mkfifo pipe
cat pipe >b.tkb &
try tkbundle collect cache -o pipe
wait $!
cmp a.tkb b.tkb
[ -w /dev/full ] || skip "there is no /dev/full"
try tkbundle collect cache -o /dev/full
[ -c /dev/null ] && echo "the device is still one"
