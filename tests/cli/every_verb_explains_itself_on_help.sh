# SPDX-License-Identifier: Apache-2.0
for verb in collect config diff emit gc help ls merge pull push refs relocate \
		run show stats verify; do
	tkbundle help $verb >wanted
	tkbundle $verb --help | cmp - wanted
	tkbundle $verb -h | cmp - wanted
	tkbundle $verb --help --nonsense | cmp - wanted
done
tkbundle help >wanted
tkbundle --help | cmp - wanted
tkbundle -h | cmp - wanted
try tkbundle help nonsense
try tkbundle help ls show
