# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
try tkbundle collect cache -o /dev/null
mkfifo pipe
cat pipe >b.tkb &
try tkbundle collect cache -o pipe
wait $!
cmp a.tkb b.tkb
# A large bundle waits in a temporary file, which cannot be beside a pipe.
mkdir t
head -c 9000000 /dev/urandom >t/large
tkbundle collect cache --tree t=t -o /dev/fd/3 3>&1 >/dev/null | cat >large.tkb
try tkbundle verify large.tkb
[ -w /dev/full ] || skip "there is no /dev/full"
try tkbundle collect cache -o /dev/full
[ -c /dev/null ] && echo "the device is still one"
