# SPDX-License-Identifier: Apache-2.0
need_modules
fixture triton-3.6.0-h100 unpacked
tkbundle collect unpacked/.triton/cache -o h100.tkb >/dev/null
try tkbundle diff unpacked/.triton/cache h100.tkb
try tkbundle diff h100.tkb unpacked/.triton/cache
try tkbundle diff h100.tkb h100.tkb
tkbundle collect --profile lean unpacked/.triton/cache -o lean.tkb >/dev/null
tkbundle emit lean.tkb lean >/dev/null
try tkbundle diff lean.tkb lean
fixture inductor-2.11-llama4-h100 llama
tkbundle collect llama/.cache/torchinductor -o llama.tkb >/dev/null
try tkbundle diff llama/.cache/torchinductor llama.tkb
