# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache --profile lean --key 5D --key CP -o a.tkb >/dev/null
tkbundle collect cache --profile lean --key CP --key QT -o b.tkb >/dev/null
tkbundle merge a.tkb b.tkb -o m.tkb >/dev/null
command -v zstd >/dev/null || skip "there is no zstd"
zstd -q -t m.tkb
tar --zstd -tf m.tkb
mkdir unpacked
tar --zstd -xf m.tkb -C unpacked
for cubin in cache/*/*.cubin; do
	case $cubin in
	*/W4*) ;;
	*) cmp "$cubin" "unpacked/triton/${cubin#cache/}" ;;
	esac
done
sed 1d unpacked/tkbundle.frames | cut -d ' ' -f 4-
