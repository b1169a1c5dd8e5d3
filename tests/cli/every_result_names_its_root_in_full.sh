# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
tkbundle emit --json a.tkb out -j 1 --target cuda:80 | json |
	grep -e '"root"' -e '"outcome"'
