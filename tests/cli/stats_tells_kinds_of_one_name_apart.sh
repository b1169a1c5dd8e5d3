# SPDX-License-Identifier: Apache-2.0
cache cache
rm -r cache/5D* cache/QT*
tkbundle stats cache | sed -n '/^entries/,/^$/p'
