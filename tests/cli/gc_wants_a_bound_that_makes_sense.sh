# SPDX-License-Identifier: Apache-2.0
cache cache
try tkbundle gc cache
try tkbundle gc cache -n --json
for size in '' x -1 +1 1.5G 5X 5Mib 5MM 5iB ' 5' 5k5 19EB 18446744073709551616; do
	try tkbundle gc cache --max-size "$size"
done
for age in '' 30 d 1w -1d 1.5h 5dd '5 d' 213503982334602d; do
	try tkbundle gc cache --max-age "$age"
done
for count in '' x -1 9999999999; do
	try tkbundle gc cache --max-entries "$count"
done
try tkbundle gc cache --max-size
find cache -name '__grp__*' | wc -l
for option in --expires=1d --passphrase-file=none --passphrase-command=none; do
	try tkbundle gc cache --max-entries 1 -n "$option"
done
