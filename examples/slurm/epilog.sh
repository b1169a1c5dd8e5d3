#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Epilog= of slurm.conf: remove the job's cache root, as the job's user.
PATH=${PATH:-/usr/sbin:/usr/bin:/sbin:/bin}
export PATH

runuser -u "$SLURM_JOB_USER" -- \
	rm -rf -- "${TMPDIR:-/tmp}/triton-$SLURM_JOB_ID"
exit 0
