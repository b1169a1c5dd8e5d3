# SPDX-License-Identifier: Apache-2.0
for verb in '' collect emit help ls show verify; do
	try tkbundle help $verb
done
