# SPDX-License-Identifier: Apache-2.0
for verb in '' collect diff emit gc help ls merge relocate show stats \
		verify; do
	try tkbundle help $verb
done
