#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What every CI system can run after the job that compiled the kernels: keep
# them as an artifact, and share them.
#
#     TKBUNDLE_REMOTE=rediss://... push.sh REF [CACHE_ROOT [ARTIFACT]]
#
# The remote comes from a secret of the CI system, as a variable: what stands on
# a command line is in the log and in the list of processes. Ends with 0 also
# where single entries cannot be packed, which is told.
set -eu

[ $# -ge 1 ] || {
	echo "usage: push.sh REF [CACHE_ROOT [ARTIFACT]]" >&2
	exit 2
}
ref=$1
cache=${2:-${TRITON_CACHE_DIR:-$HOME/.triton/cache}}
artifact=${3:-kernels.tkb}

# Exit status 4: some were left out, each with its reason.
tolerate() {
	"$@" || [ $? -eq 4 ]
}

tolerate tkbundle collect "$cache" -o "$artifact"
tkbundle verify "$artifact"
tolerate tkbundle push "$ref" "$cache"
tkbundle refs "$ref"
