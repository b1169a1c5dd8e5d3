# SPDX-License-Identifier: Apache-2.0
cache cache
rm cache/5D*/add_kernel.ptx
for options in -n ''; do
	status=0
	tkbundle relocate cache --json $options >document 2>words || status=$?
	json <document
	cat words
	echo "exit $status"
done
tkbundle relocate cache --json 2>words | outline
