#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Prolog= of slurm.conf: before the first task of a job on a node, fetch the
# cluster's kernels into a cache root of the node. Runs as root, and hands over
# to a user of its own at once: what comes from a network is not root's.
#
# /etc/tkbundle/node.conf, which belongs to root:tkbundle and is 0640, has
#
#     remote = rediss://reader:PASSWORD@cache.example.com:6379/0
#     ref = cluster/h100
#
# and /var/cache/tkbundle belongs to the user tkbundle. A prolog that fails
# drains its node, and one that hangs holds the job up: this one always ends
# with 0, after 26 seconds at the latest.
PATH=${PATH:-/usr/sbin:/usr/bin:/sbin:/bin}
export PATH
cache=${NODE_CACHE:-/var/cache/tkbundle/triton}
config=${NODE_CONFIG:-/etc/tkbundle/node.conf}

# shellcheck disable=SC2016 # the inner shell's
timeout -k 1 25 sh -c 'runuser -u tkbundle -- env TKBUNDLE_CONFIG="$1" \
	tkbundle pull --best-effort --deadline 20s - "$2" 2>&1 |
	logger -t tkbundle-prolog' sh "$config" "$cache"
exit 0
