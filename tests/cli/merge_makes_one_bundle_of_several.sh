# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o whole.tkb >/dev/null
tkbundle collect cache --key 5D --key OH -o a.tkb >/dev/null
tkbundle collect cache --key CP --key W4 --key QT -o b.tkb >/dev/null
try tkbundle merge a.tkb b.tkb -o m.tkb
try tkbundle merge -o n.tkb -- b.tkb a.tkb
try tkbundle merge -o o.tkb whole.tkb
cmp o.tkb whole.tkb
tkbundle verify m.tkb
for bundle in whole m n; do
	tkbundle ls --json $bundle.tkb | json | grep '"id"' >$bundle.id
done
cmp whole.id m.id
cmp whole.id n.id
tkbundle emit whole.tkb out >/dev/null
mv out wanted
tkbundle emit m.tkb out
diff -r -x .tkbundle wanted out
