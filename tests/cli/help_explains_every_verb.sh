# SPDX-License-Identifier: Apache-2.0
for verb in '' collect config diff emit gc help ls merge pull push refs \
		relocate run show stats verify; do
	try tkbundle help $verb
done
