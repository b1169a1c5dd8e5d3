# SPDX-License-Identifier: Apache-2.0
cache triton
cache inductor/triton/2
cache home/.triton/cache
cache other/.triton/cache
rm -r inductor/triton/2/5D* home/.triton/cache/CP* other/.triton/cache/QT*

each_root try tkbundle collect -n
try_line 'tkbundle collect -n --json | json | grep \"root\"'
try tkbundle collect inductor -n
TRITON_CACHE_DIR= TORCHINDUCTOR_CACHE_DIR= TRITON_HOME= \
	try tkbundle collect -n
