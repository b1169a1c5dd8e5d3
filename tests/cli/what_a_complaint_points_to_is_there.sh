# SPDX-License-Identifier: Apache-2.0
for line in '' nonsense '--version --nonsense' 'help --nonsense' \
	'collect -x' 'emit' 'ls a b' 'show' 'verify a b'; do
	tkbundle $line 2>words || true
	hint=$(sed "s/.*; see '\(.*\)'\$/\1/" words)
	if $hint >/dev/null 2>&1; then
		echo "tkbundle $line: there"
	else
		echo "tkbundle $line: no '$hint'"
	fi
done
