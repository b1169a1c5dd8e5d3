# SPDX-License-Identifier: Apache-2.0
cache cache
key ci.pem
export TKBUNDLE_REMOTE=remote
# Of refs that hold the same record, some are signed in the same second.
for ref in a b c d e f; do
	tkbundle push $ref cache --sign ci.pem >said
	tkbundle sign $ref --key ci.pem.pub --export out
done
ls out | wc -l
# The same signature has the same name again.
tkbundle sign a --key ci.pem.pub --export out
ls out | wc -l
# Also where nothing is to be written, a file is no folder.
key other.pem
touch file
try tkbundle sign a --key other.pem --export file
