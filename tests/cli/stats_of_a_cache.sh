# SPDX-License-Identifier: Apache-2.0
fixture triton-3.6.0-h100 unpacked
try tkbundle stats unpacked/.triton/cache
try tkbundle stats --paths unpacked/.triton/cache
