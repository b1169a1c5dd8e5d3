# SPDX-License-Identifier: Apache-2.0
cache cache
python3 - cache/OH*/gelu_kernel.autotune.json <<-'END'
	import sys
	with open(sys.argv[1], "w") as file:
	    paths = ["/a/%05d" % (i // 2) for i in range(140000)]
	    file.write('{"timings": "' + " ".join(paths) + '"}')
END
tkbundle stats --paths cache | grep -e /a/ -e others -e ^paths
tkbundle stats --paths --json cache >document
json <document | grep -A 3 '"paths": {'
json <document | grep -c '"path": "/a/'
