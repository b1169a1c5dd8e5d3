# SPDX-License-Identifier: Apache-2.0
# What is in a cache, counted without us. A group file shrinks when collected.
cat >count.py <<-'END'
	import hashlib, json, os, re, sys
	DROPPED = ("source", "ttir", "ttgir", "llir", "ptx", "amdgcn")
	PATH = re.compile(rb"(?<![A-Za-z0-9._+@~/-])(?:/[A-Za-z0-9._+@~-]+){2,}")
	types, names, paths, seen = {}, {}, {}, {}
	repeats, own = [0, 0], 0
	for key in os.listdir(sys.argv[1]):
	    folder = os.path.join(sys.argv[1], key)
	    total = count = 0
	    for file in os.listdir(folder):
	        data = open(os.path.join(folder, file), "rb").read()
	        stem, type = file.split(".")[0], file.rsplit(".", 1)[1]
	        if file.startswith("__grp__"):
	            name = "kernel", stem[len("__grp__"):]
	            mine = re.compile(b'"[^"]*/' + key.encode() + b'/')
	            own += len(mine.findall(data))
	            data = mine.sub(b'"[REPLACE]/', data)
	        elif type == "so":
	            name = "module", stem
	        elif file.endswith(".autotune.json"):
	            name = "autotune", stem
	        row = types.setdefault(type, [0, 0, 0])
	        row[0] += 1
	        row[1] += len(data)
	        total += len(data)
	        count += 1
	        digest = hashlib.sha256(data).digest()
	        if digest in seen:
	            repeats[0] += 1
	            repeats[1] += len(data)
	        seen[digest] = True
	        for path in PATH.findall(data):
	            row[2] += 1
	            paths[path.decode()] = paths.get(path.decode(), 0) + 1
	    row = names.setdefault(name, [0, 0, 0])
	    names[name] = [row[0] + 1, row[1] + count, row[2] + total]
	wanted = {
	    "types": sorted([t] + row for t, row in types.items()),
	    "names": sorted([*n] + row for n, row in names.items()),
	    "repeats": repeats,
	    "dropped": [sum(row[i] for t, row in types.items() if t in DROPPED)
	                for i in (0, 1)],
	    "entries": sum(row[0] for row in names.values()),
	    "files": sum(row[0] for row in types.values()),
	    "size": sum(row[1] for row in types.values()),
	    "paths": sorted([p, n] for p, n in paths.items()),
	    "count": sum(paths.values()),
	}
	for source in sys.argv[2:]:
	    said = json.load(open(source))
	    got = {
	        "types": sorted([t["type"], t["files"], t["size"], t["paths"]]
	                        for t in said["types"]),
	        "names": sorted([n["kind"], n["name"], n["entries"], n["files"],
	                         n["size"]] for n in said["names"]),
	        "repeats": [said["repeats"]["files"], said["repeats"]["size"]],
	        "dropped": [said["dropped_by_lean"]["files"],
	                    said["dropped_by_lean"]["size"]],
	        "entries": said["entry_count"],
	        "files": said["files"],
	        "size": said["size"],
	        "paths": sorted([p["path"], p["count"]]
	                        for p in said["paths"]["list"]),
	        "count": said["paths"]["count"],
	    }
	    for what in wanted:
	        if got[what] != wanted[what]:
	            print(source, what, got[what], "is not", wanted[what])
	    sizes = [n["size"] for n in said["names"]]
	    counts = [p["count"] for p in said["paths"]["list"]]
	    assert sizes == sorted(sizes, reverse=True)
	    assert counts == sorted(counts, reverse=True)
	    assert said["paths"]["distinct"] == len(paths)
	    assert said["paths"]["beyond"] == 0
	    assert all(t["lean"] == (t["type"] not in DROPPED)
	               for t in said["types"])
	    mine = sum(t["own"] for t in said["types"])
	    assert mine == (own if "root" in said else 0), mine
	print(len(wanted["names"]), "names,", wanted["files"], "files,",
	      wanted["count"], "paths: as counted")
END
compare() {
	tkbundle collect "$1" -o a.tkb >/dev/null
	tkbundle stats --json --paths "$1" >cache.json
	tkbundle stats --json --paths a.tkb >bundle.json
	python3 count.py "$2" cache.json bundle.json
}
cache cpu
compare cpu cpu
fixture triton-3.6.0-h100 h100
compare h100/.triton/cache h100/.triton/cache
fixture inductor-2.11-llama4-h100 llama
compare llama/.cache/torchinductor llama/.cache/torchinductor/triton/0
fixture triton-3.2.0-cpu old
compare old/.triton/cache old/.triton/cache
# What is the entry's own need not look like a path.
odd='here (b)/c/"d" e/f'
tkbundle emit a.tkb "$odd" >/dev/null
tkbundle stats --json --paths "$odd" >odd.json
rm -r "$odd/.tkbundle"
python3 count.py old/.triton/cache odd.json
