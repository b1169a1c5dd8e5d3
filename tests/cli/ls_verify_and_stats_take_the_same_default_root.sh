# SPDX-License-Identifier: Apache-2.0
# One more is missing from each, so that each shows which it is.
cache home/.triton/cache
cache other/.triton/cache
cache triton
cache inductor/triton/1
rm -r other/.triton/cache/QT* inductor/triton/1/5D* inductor/triton/1/QT*
rm -r triton/CP* triton/5D* triton/QT*
all() {
	try_line 'tkbundle ls | tail -n 1'
	try tkbundle verify
	try_line 'tkbundle stats --json | json | outline'
	try_line 'tkbundle stats --used | tail -n 1 | sed s/,.*//'
}
each_root all
export TRITON_CACHE_DIR="$PWD/none"
try tkbundle ls
try tkbundle verify
try tkbundle stats
