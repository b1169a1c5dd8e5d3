# SPDX-License-Identifier: Apache-2.0
for jobs in 0 257 -1 +1 ' 1' 1x 0x1 99999999999 ''; do
	try tkbundle verify a.tkb -j "$jobs"
done
try tkbundle collect --device 1024 -o a.tkb
try tkbundle collect --device -1 -o a.tkb
try tkbundle emit a.tkb --device 1024
