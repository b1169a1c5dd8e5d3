# SPDX-License-Identifier: Apache-2.0
[ ! -e /etc/tkbundle.conf ] || skip "there is an /etc/tkbundle.conf"
unset TKBUNDLE_CONFIG
mkdir -p home/.config/tkbundle
file=home/.config/tkbundle/config
echo 'remote = remote' >$file
chmod 666 $file
try tkbundle pull a
try_line 'TKBUNDLE_CONFIG=$PWD/home/.config/tkbundle/config tkbundle pull a'
chmod 664 $file
try tkbundle pull a
chmod 602 $file
mv $file $file.other
ln -s config.other $file
try tkbundle pull a

# One that may not be read is none.
chmod 0 $file.other
try powerless tkbundle pull a --remote remote
try_line 'powerless tkbundle config | grep ^file'
try_line 'TKBUNDLE_CONFIG=$PWD/home/.config/tkbundle/config powerless tkbundle pull a --remote remote'
chmod 0 home/.config
try_line 'powerless tkbundle config | grep ^file'
chmod 755 home/.config
