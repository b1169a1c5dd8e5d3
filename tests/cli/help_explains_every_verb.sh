# SPDX-License-Identifier: Apache-2.0
for verb in '' collect config diff emit gc help key ls merge promote pull \
		push refs relocate revoke run show sign stats verify; do
	try tkbundle help $verb
done
