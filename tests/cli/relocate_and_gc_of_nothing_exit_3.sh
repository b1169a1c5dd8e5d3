# SPDX-License-Identifier: Apache-2.0
for verb in relocate 'gc --max-entries 3'; do
	try tkbundle $verb nowhere
	try_line "tkbundle $verb nowhere --json | json"
	touch file
	try tkbundle $verb file
	try tkbundle $verb one two
done
