# SPDX-License-Identifier: Apache-2.0
try tkbundle
try tkbundle nonsense
try tkbundle --nonsense
try tkbundle -x
try tkbundle ''
for verb in collect emit ls show verify help; do
	try tkbundle $verb --nonsense
	try tkbundle $verb -x
done
try tkbundle ls --file a.tkb
try tkbundle ls --json=yes a.tkb
try tkbundle ls -é a.tkb
