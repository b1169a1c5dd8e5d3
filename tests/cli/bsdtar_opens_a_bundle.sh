# SPDX-License-Identifier: Apache-2.0
command -v bsdtar >/dev/null || skip "there is no bsdtar"
cache cache
tkbundle collect cache -o a.tkb >/dev/null
bsdtar -tf a.tkb | wc -l
bsdtar -tvf a.tkb | awk '{ print $1, $2, $3, $4, $NF }'
