# SPDX-License-Identifier: Apache-2.0
# The text format: HELP and TYPE before a value, names and labels as they must
# be, no name twice. Times are this machine's.
check() {
	"$python" - "$@" <<-'END_OF_CHECK'
	import re
	import sys
	import time
	for path in sys.argv[1:]:
	    text = open(path).read()
	    assert text.endswith("\n")
	    lines = text.splitlines()
	    seen = set()
	    assert len(lines) % 3 == 0
	    for help_, type_, value in zip(*[iter(lines)] * 3):
	        name = re.fullmatch(r"# HELP (tkbundle_\w+) [A-Z].*\.", help_)[1]
	        assert name not in seen
	        seen.add(name)
	        assert type_ == f"# TYPE {name} gauge"
	        label = r'\{(?:ref|remote)="(?:[^"\\\n]|\\[\\"n])*"\}'
	        number = re.fullmatch(rf"{name}{label} ([0-9.]+)", value)[1]
	        if name.endswith("_timestamp_seconds"):
	            assert abs(time.time() - float(number)) < 60
	            value = value.replace(number, "NOW")
	        if name.endswith("_duration_seconds"):
	            assert float(number) < 60
	            value = value.replace(number, "SHORT")
	        if name.endswith("_bytes") and number != "0":
	            value = value.replace(number, "SIZE")
	        print(value)
	END_OF_CHECK
}
cache cache
umask 077
try tkbundle push team/a cache --remote remote --metrics push.prom
try tkbundle pull team/a warm --remote remote --metrics pull.prom
tkbundle gc --remote remote --max-age 30d --metrics gc.prom >words
rm words
check push.prom pull.prom gc.prom
stat -c '%a %n' ./*.prom

# A failure is told, too, and replaces what was there.
try tkbundle pull absent warm --remote remote --metrics pull.prom
try tkbundle pull absent warm --remote redis://:secret@127.0.0.1:1 \
	--metrics pull.prom --best-effort
try tkbundle pull '{env:NOTHING}' warm --remote remote --metrics no.prom
check pull.prom no.prom
rm pull.prom no.prom
try tkbundle gc --remote 'redis://:secret@127.0.0.1:1?prefix=secret' \
	--metrics gc.prom
try tkbundle push a cache --remote redis://:secret@127.0.0.1:1 \
	--metrics push.prom
check push.prom gc.prom

# The name of a folder need not be UTF-8, and a label must be.
tkbundle gc --remote "$(printf 'r\377')" --max-age 30d --metrics gc.prom >words
check gc.prom >words
head -n 1 words
rm words

# Nothing was done: there is nothing to tell.
rm ./*.prom
try tkbundle pull team/a warm --remote remote --metrics pull.prom -n
try tkbundle push b cache --remote remote --metrics push.prom -n
tkbundle gc --remote remote --metrics gc.prom -n >words
rm words
try tkbundle pull a b c --remote remote --metrics pull.prom
ls

# That they cannot be written counts where nothing else does.
try tkbundle push team/a cache --remote remote --metrics no/push.prom
try tkbundle pull team/a warm --remote remote --metrics warm
try tkbundle pull absent warm --remote remote --metrics no/pull.prom
try tkbundle pull team/a warm --remote remote --metrics no/pull.prom --best-effort
try_line 'tkbundle pull team/a warm --remote remote --metrics /dev/full'
try_line 'tkbundle gc --remote remote --metrics no/gc.prom >/dev/null'
ls
