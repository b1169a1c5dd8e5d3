# SPDX-License-Identifier: Apache-2.0
[ "$(id -u)" -eq 0 ] || skip "only root can give a file away"
[ ! -e /etc/tkbundle.conf ] || skip "there is an /etc/tkbundle.conf"
unset TKBUNDLE_CONFIG
mkdir -p home/.config/tkbundle
echo 'remote = remote' >home/.config/tkbundle/config
chown 12345 home/.config/tkbundle/config
try tkbundle pull a
try env TKBUNDLE_CONFIG=home/.config/tkbundle/config tkbundle pull a
