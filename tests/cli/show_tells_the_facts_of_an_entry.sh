# SPDX-License-Identifier: Apache-2.0
fixture triton-3.6.0-h100 .
tkbundle collect .triton/cache -o a.tkb >/dev/null
try tkbundle show a.tkb KRJX
try tkbundle show .triton/cache KRJX
try tkbundle show a.tkb XU5D
cache folder/triton/0
cp -r folder/triton/0 folder/triton/1
try tkbundle show folder OH
