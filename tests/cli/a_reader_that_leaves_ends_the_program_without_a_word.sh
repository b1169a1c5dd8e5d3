# SPDX-License-Identifier: Apache-2.0
fixture inductor-2.11-llama4-h100 .
tkbundle collect .cache/torchinductor -o a.tkb >/dev/null
try_line 'tkbundle ls --files a.tkb | head -n 1'

# More than a pipe holds, to a reader that takes nothing.
left() {
	{
		status=0
		"$@" tkbundle collect .cache/torchinductor -o - || status=$?
		echo $status >status
	} 2>words | :
	cat status words
}
left env --default-signal=PIPE
echo "where the signal is ignored:"
left env --ignore-signal=PIPE
