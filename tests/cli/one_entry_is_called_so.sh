# SPDX-License-Identifier: Apache-2.0
cache cache
mkdir one
cp -r cache/5D* one
try tkbundle collect one -n
try tkbundle collect one -o a.tkb
try tkbundle ls a.tkb
try tkbundle verify a.tkb
rm one/5D*/add_kernel.ptx
try tkbundle collect one -n --strict
