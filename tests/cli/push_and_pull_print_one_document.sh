# SPDX-License-Identifier: Apache-2.0
# How long the path is shows in what is emitted.
show() {
	$1 <document | sed 's/\("size": \)[1-9][0-9]*/\1$SIZE/'
}
cache cache
tkbundle push --json a cache --remote one,two >document
show json
tkbundle pull --json a warm --remote two,one --key 5DJU >document
show json
tkbundle pull --json a warm --remote one --target cuda:80 >document
show outline
tkbundle pull --json a -o a.tkb --remote one >document
show outline
tkbundle push --json b --bundle a.tkb --remote one >document
show json
tkbundle pull --json absent warm --remote one >document 2>words ||
	echo "exit $?"
show json
