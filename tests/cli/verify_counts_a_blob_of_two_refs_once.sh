# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle push a/b cache --remote remote >/dev/null
tkbundle push a/c cache --remote remote >/dev/null
tkbundle verify --remote remote | sed 's/([1-9][0-9.]* k*M*B)/($SIZE)/'
tkbundle gc --remote remote | sed 's/([1-9][0-9.]* k*M*B)/($SIZE)/g'
