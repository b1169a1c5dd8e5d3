# SPDX-License-Identifier: Apache-2.0
cache cache
export MODEL=llama/7b EMPTY=
try tkbundle push '{env:MODEL}/triton-{triton}' cache --remote remote
try_line 'tkbundle refs --remote remote | cut -d " " -f 1'
try env TRITON_CACHE_DIR=cache tkbundle refs --delete '{env:MODEL}/triton-{triton}' \
	--remote remote
for ref in '{env:NOTHING}' '{env:EMPTY}' '{env:}' '{nonsense}' '{arch' '{}'; do
	try tkbundle push "$ref" cache --remote remote
done
try tkbundle pull '{env:NOTHING}' warm --remote remote --best-effort
