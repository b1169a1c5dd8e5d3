# SPDX-License-Identifier: Apache-2.0
echo >add.ptx
export TKBUNDLE_DISABLE=1
try tkbundle compile add.ptx --target cuda:90 --cache root
try tkbundle compile add.ptx --target cuda:90 --cache root --json
ls
