# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
tkbundle emit a.tkb out >/dev/null
for file in out/5D*/*; do
	tkbundle show out 5D --file "${file##*/}" | cmp - "$file"
	tkbundle show a.tkb 5D --file="${file##*/}" >shown
	cmp -s shown "$file" || echo "${file##*/} differs"
done
tkbundle show a.tkb 5D --file __grp__add_kernel.json
echo
try tkbundle show a.tkb 5D --file nothing
try tkbundle show out 5D --file ../secret
