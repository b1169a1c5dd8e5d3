# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache --key 5D -o a.tkb >/dev/null
tkbundle collect cache --key QT -o frame.tkb >/dev/null
cp frame.tkb end.tkb
cp frame.tkb behind.tkb
damage frame.tkb 1000
damage end.tkb 1
echo >>behind.tkb
echo text >text.tkb
echo "as it was" >m.tkb
for bad in frame end behind text; do
	try tkbundle merge a.tkb $bad.tkb -o m.tkb
done
try_line 'tkbundle merge a.tkb frame.tkb -o - >part.tkb'
try tkbundle verify part.tkb
cat m.tkb
ls -A
