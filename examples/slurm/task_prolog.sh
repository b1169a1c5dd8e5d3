#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# TaskProlog= of slurm.conf: give the job a cache root of its own, which begins
# with the node's kernels. Runs as the job's user, who needs no secret and can
# change nothing that is others'. What is printed as "export NAME=VALUE" becomes
# the task's environment. Several tasks of a job may do this at once.
cache=${NODE_CACHE:-/var/cache/tkbundle/triton}
own=${TMPDIR:-/tmp}/triton-$SLURM_JOB_ID

mkdir -m 0700 "$own" 2>/dev/null
# In a folder for all, one of that name may be somebody else's.
if [ -d "$cache" ] && [ -d "$own" ] && [ -O "$own" ] && [ ! -L "$own" ]; then
	tkbundle collect "$cache" -o - 2>/dev/null |
		tkbundle emit - "$own" >/dev/null 2>&1
	echo "export TRITON_CACHE_DIR=$own"
fi
exit 0
