# SPDX-License-Identifier: Apache-2.0
# What the page does is told by tests/page.
cache cache
tkbundle collect cache -o kernels.tkb >words 2>&1
tkbundle push model cache --remote remote >words 2>&1
for what in cache kernels.tkb "model --remote remote"; do
	# shellcheck disable=SC2086 # words
	tkbundle report $what -o page.html
	sed -n 's/.*"kind":"\([a-z]*\)","name":"\([^"]*\)".*/\1 \2/p' page.html
	grep -c 'add_kernel' page.html
	! grep -q '@[A-Z]*@' page.html || echo "a part is missing"
done
tkbundle report cache -o - | head -n 1
try tkbundle report cache
try tkbundle report absent -o page.html
try tkbundle report other --remote remote -o page.html
try tkbundle report cache --deadline 3s -o page.html
try tkbundle report cache -o absent/page.html
ln kernels.tkb linked
try tkbundle report kernels.tkb -o linked
try tkbundle export kernels.tkb --format tar.gz -o ./kernels.tkb
try tkbundle verify kernels.tkb
cp kernels.tkb kernels.tar.gz
try tkbundle import kernels.tar.gz -o kernels.tar.gz
echo '{' >"$(echo cache/5DJU*)/add_kernel.json"
try tkbundle report cache -o page.html
