# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null

# The size is that of the files with paths, and these differ here.
hide_size() {
	sed 's/"size": [1-9][0-9]*/"size": $SIZE/'
}
tkbundle emit --json a.tkb out -j 1 --key 5D | json | hide_size
tkbundle emit --json a.tkb out -j 1 --target cuda:80 | outline
tkbundle emit --json a.tkb out -j 1 | outline | hide_size
