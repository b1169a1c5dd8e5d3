# SPDX-License-Identifier: Apache-2.0
hide() {
	sed 's/[0-9a-f]\{64\}/$DIGEST/g'
}
cache cache
{
	tkbundle push a cache --remote remote
	tkbundle push b cache --remote remote --key 5DJU
} >words
touch -d '40 days ago' remote/cas/*/*
for record in remote/ref/b/*; do
	chmod 000 "$record"
done
powerless tkbundle gc --remote remote --max-age 30d 2>&1 | hide
powerless tkbundle gc --remote remote --json 2>words | json | hide
find remote/cas remote/ref -type f | wc -l
chmod 644 remote/ref/b/*
# A folder that nobody may look into.
chmod 000 remote/ref/b
powerless tkbundle gc --remote remote 2>&1 | hide
chmod 755 remote/ref/b
find remote/cas remote/ref -type f | wc -l
