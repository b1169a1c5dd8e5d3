# SPDX-License-Identifier: Apache-2.0
[ ! -e /etc/tkbundle.conf ] || skip "there is an /etc/tkbundle.conf"
unset TKBUNDLE_CONFIG
try tkbundle config

mkdir -p home/.config/tkbundle
cat >home/.config/tkbundle/config <<'FILE'
# Our fleet.

remote = redis://user:secret@cache:6379/2?ttl=30d,/mnt/kernels
	timeout=5s
  deadline	=  2m
push = on-exit
FILE
try tkbundle config
try env TKBUNDLE_REMOTE=rediss://:secret@other TKBUNDLE_PUSH=never \
	TKBUNDLE_WAIT=0ms TKBUNDLE_REF='model/{arch}' tkbundle config
try_line 'tkbundle config --json | json'

# For programs, a value as it is; nothing else is told with it.
try tkbundle config --get remote
try tkbundle config --get wait
try tkbundle config --get ref
try tkbundle config --get speed
try tkbundle config --get ref --json
try tkbundle config --get ref --engine torch
try env TKBUNDLE_WAIT=long tkbundle config --get remote
printf 'remote = /mnt/\377' >bytes
try_line 'TKBUNDLE_CONFIG=bytes tkbundle config --get remote | od -An -c'

# An empty variable counts as none.
try_line 'TKBUNDLE_TIMEOUT= tkbundle config | grep timeout'
try_line 'XDG_CONFIG_HOME=$PWD/xdg tkbundle config | grep -v default'
try_line 'XDG_CONFIG_HOME=home/.config tkbundle config | grep ^file'
try_line 'env -u HOME tkbundle config | grep ^file'
echo 'ref = named' >named
try_line 'TKBUNDLE_CONFIG=named tkbundle config | grep -v default'
try_line 'TKBUNDLE_CONFIG=/dev/null tkbundle config | grep -v default'
# What comes from the command line counts most, and the file for the rest.
cache cache
try env TKBUNDLE_REMOTE=redis://127.0.0.1:1 TKBUNDLE_CONFIG=named \
	tkbundle push - cache --remote remote
try env TKBUNDLE_REMOTE=remote TKBUNDLE_CONFIG=named tkbundle pull - warm
try env TKBUNDLE_REMOTE=remote TKBUNDLE_CONFIG=named \
	TRITON_CACHE_DIR=default tkbundle pull
try env TKBUNDLE_REMOTE=remote TKBUNDLE_REF=a TKBUNDLE_CONFIG=named \
	tkbundle pull - warm
