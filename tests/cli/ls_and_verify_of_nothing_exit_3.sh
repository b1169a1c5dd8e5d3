# SPDX-License-Identifier: Apache-2.0
for verb in ls verify; do
	try tkbundle $verb nowhere
	try_line "tkbundle $verb nowhere --json | json"
done
try tkbundle show nowhere KEY
