# SPDX-License-Identifier: Apache-2.0
cache cpu
fixture triton-3.6.0-h100 unpacked
mv unpacked/.triton/cache h100
try tkbundle diff cpu h100
tkbundle diff h100 cpu | tail -n 1
tkbundle diff cpu h100 | sed -n 's/^- \([A-Z0-9]*\) .*/\1/p' | sort >only_a
ls cpu | cut -c -12 | sort | cmp - only_a
tkbundle diff cpu h100 | sed -n 's/^+ \([A-Z0-9]*\) .*/\1/p' | sort >only_b
ls h100 | cut -c -12 | sort | cmp - only_b
