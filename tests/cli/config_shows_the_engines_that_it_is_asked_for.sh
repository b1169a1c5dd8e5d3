# SPDX-License-Identifier: Apache-2.0
[ ! -e /etc/tkbundle.conf ] || skip "there is an /etc/tkbundle.conf"
unset TKBUNDLE_CONFIG
export PYTHONNOUSERSITE=1
mkdir -p engines home/.config/mine venv/bin
mkdir -p venv/lib/python3.12/site-packages/The_mine-1.2.3.dist-info
ln -s /bin/false venv/bin/python3
cat >engines/mine.json <<'FILE'
{"engine": "mine", "package": "the-mine", "versions": ["1.1", "1.2"],
 "commands": ["mine serve"], "models": ["serve"], "ptxas": 0, "roots": [
  {"name": "triton", "kernels": 1, "variable": "TRITON_CACHE_DIR",
   "places": [["HOME", "/.triton/cache"]], "rules": []},
  {"name": "mine", "variable": "MINE_CACHE",
   "places": [["MINE_HOME", "/cache"], ["", "/nowhere/mine-%u"]],
   "rules": [{"path": "graphs/*", "is": "unit"},
             {"path": "graphs/*/index.json", "style": "json", "last": 1},
             {"path": "keys.txt", "style": "text", "secrets": 1},
             {"path": "tuned/*", "tuned": 1, "shows": "nothing"},
             {"path": "cache/*", "is": "unit", "named": "deepgemm"},
             {"path": "logs", "is": "leave"}]}],
 "keys": ["the graph", "MINE_KEY"],
 "outside": [{"name": "mine-package", "package": "mine", "places": []},
             {"name": "deep_gemm-package", "package": "", "places": [],
              "folders": ["deep_gemm", "mine/deep_gemm"]}],
 "set": [["MINE_CONFIG", "/etc/mine", ".config/mine"],
         ["MINE_KEY", "equal", ""]]}
FILE
export TKBUNDLE_ENGINES="$PWD/engines" TKBUNDLE_PYTHON="$PWD/venv/bin/python3"
USER=op
export USER
mine='tkbundle config --engine mine'

try_line "$mine | sed -n '/^engine /,\$p'"
# What the user has set stays.
try_line "MINE_CACHE=/cache MINE_KEY=own $mine | grep -e MINE -e ' mine '"
# Where nothing is in the engine's own place, what run has placed counts.
mkdir -p home/.cache/tkbundle/engines/mine home/.triton/cache
try_line "$mine | grep -e root -e 'run sets'"
try_line "MINE_HOME=/home/mine $mine | grep 'root mine'"
# What would ask for other keys waits for a remote, if graphs are here already.
mkdir -p home/old/cache
try_line "MINE_HOME=$PWD/home/old $mine | grep 'MINE_[CK].* remote'"
try_line "MINE_HOME=$PWD/home/old TKBUNDLE_REMOTE=remote $mine | grep 'MINE_[CK]'"
try_line "sed -i 's/1[.]2\"/1.20\"/' engines/mine.json; $mine | grep '^engine '"
try_line "rm -r venv/lib; $mine | grep '^engine '"
try_line "$mine --json | json | sed -n '/\"engines\"/,\$p'"
# Those that come with the program can be shown, too, and several at once.
unset TKBUNDLE_ENGINES
try_line 'tkbundle config --engine vllm --engine torch | grep -c "^  root"'
try_line 'tkbundle config --engine vllm | grep -c "^  keys do not hold [0-9]* variables, which --json names$"'
try_line 'tkbundle config --engine none | tail -n 1'
try_line 'tkbundle config --engine none >values; echo $?'
