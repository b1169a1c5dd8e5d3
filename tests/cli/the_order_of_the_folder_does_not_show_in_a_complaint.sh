# SPDX-License-Identifier: Apache-2.0
fixture triton-3.6.0-h100 .
mkdir forth back
(cd .triton/cache && ls -d D*) >keys
while read -r key; do
	cp -r ".triton/cache/$key" forth
done <keys
sort -r keys | while read -r key; do
	cp -r ".triton/cache/$key" back
done
try tkbundle collect forth -o a.tkb --key D
try tkbundle collect back -o a.tkb --key D
try tkbundle collect .triton/cache -o a.tkb --key D
