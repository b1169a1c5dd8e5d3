# SPDX-License-Identifier: Apache-2.0
. "$here/compiling.inc"
kernels .
need_llvm add.llir
# What keeps LLVM busy for minutes: each store may change what is loaded next.
{
	echo 'define ptx_kernel void @slow(ptr %p) {'
	echo '  %v0 = load i32, ptr %p'
	seq 0 40000 | awk '{ n = $1 + 1
		print "  %q" $1 " = getelementptr i32, ptr %p, i32 %v" $1
		print "  store i32 %v" $1 ", ptr %q" $1
		print "  %v" n " = load i32, ptr %q" $1 }'
	printf '  ret void\n}\n'
} >slow.ll
{
	tkbundle compile add.llir slow.ll add.llir --target cuda:90 -j 1 \
		--cache root >out &
	while ! ls root/*/*.cubin >files; do
		sleep 0.05
	done
	workers=$(ps -o pid= --ppid $!)
	kill -TERM $!
	status=0
	wait $! || status=$?
} 2>words
grep '^tkbundle' words || true
echo "exit $status"
mask <out
[ -n "$workers" ]
for worker in $workers; do
	! kill -0 "$worker" 2>/dev/null || echo "worker $worker is there"
done
tkbundle verify root | sed 's/ (.*)//'
