# SPDX-License-Identifier: Apache-2.0
for verb in '' collect config diff emit gc help key ls merge pull push refs \
		relocate run show stats verify; do
	try tkbundle help $verb
done
