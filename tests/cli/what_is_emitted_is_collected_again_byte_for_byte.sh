# SPDX-License-Identifier: Apache-2.0
need_modules
for name in triton-3.0.0-cpu triton-3.2.0-cpu triton-3.6.0-h100 \
	triton-3.9.0-cpu; do
	fixture $name $name
	tkbundle collect $name/.triton/cache -o $name.tkb
	tkbundle emit $name.tkb "elsewhere/$name"
	tkbundle collect "elsewhere/$name" -o again.tkb >/dev/null
	cmp $name.tkb again.tkb

	# But for the group files, which hold the path, nothing differs.
	diff -r -q -x '__grp__*' -x .tkbundle $name/.triton/cache \
		"elsewhere/$name"
done
grep -c "$PWD/elsewhere/triton-3.6.0-h100/KRJX[^/]*/add_kernel.cubin" \
	elsewhere/triton-3.6.0-h100/KRJX*/__grp__add_kernel.json
