# SPDX-License-Identifier: Apache-2.0
id='s/[0-9a-f]\{64\}/ID/'
try_line "tkbundle key new ci.pem | sed '$id'"
try_line "tkbundle key show ci.pem.pub | sed '$id'"
try_line "tkbundle key show ci.pem --json | sed '$id' | json"
try_line 'ls -l ci.pem ci.pem.pub | cut -c 1-10'
try_line 'tkbundle key show ci.pem --public | cmp - ci.pem.pub'
# The id is one that others know, too.
tkbundle key show ci.pem | cut -d' ' -f2 >ours
python3 - <<'PY'
import base64, hashlib
lines = open("ci.pem.pub").read().split("\n")[1:-2]
spki = hashlib.sha256(base64.b64decode("".join(lines))).hexdigest()
assert open("ours").read().strip() == spki
PY

# A passphrase comes from a file, a command or a terminal.
echo secret >word
try_line "tkbundle key new kms.pem --kind p256 --passphrase-file word | sed '$id'"
try_line 'head -n 1 kms.pem'
try_line "tkbundle key show kms.pem --passphrase-command 'cat word' | sed '$id'"
# More may follow that line.
try_line "tkbundle key show kms.pem --passphrase-command 'cat word; seq 999' | sed '$id'"
try_line "echo secret | tkbundle key show kms.pem --passphrase-file - | sed '$id'"
try_line 'echo other | tkbundle key show kms.pem --passphrase-file -'
try tkbundle key show kms.pem --passphrase-command 'exit 1'
try tkbundle key show kms.pem --passphrase-command true
try_line 'setsid tkbundle key show kms.pem </dev/null'

# A key is not written over.
try tkbundle key new ci.pem
mv ci.pem other.pem
try tkbundle key new ci.pem
try_line 'ls *.pem'
chmod 644 other.pem
try_line "tkbundle key show other.pem | sed '$id'"

try tkbundle key make x
try tkbundle key show x --kind p256
try tkbundle key new x --public
try tkbundle key show ci.pem.pub --passphrase-file a --passphrase-command b
try tkbundle key show ci.pem.pub --passphrase-file word
try tkbundle key show ci.pem.pub --passphrase-command 'cat word'
try tkbundle key show nothing
try tkbundle key show word/nothing
try tkbundle key new no/folder
try_line 'tkbundle key show nothing --json'

# Who interrupts at the prompt sees again what is typed, and no file is left.
cat >interrupt.py <<'PY'
import os, pty, signal, sys, termios, time

def shows(terminal):
    return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)

def wait_for(condition):
    end = time.monotonic() + 20
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()

ours, theirs = pty.openpty()
child = os.fork()
if child == 0:
    os.setsid()
    os.close(os.open(os.ttyname(theirs), os.O_RDWR))  # and it is the terminal
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.alarm(60)
    os.execvp("tkbundle", ["tkbundle", "key", "new", "typed.pem", "--encrypt"])
print("hidden:", wait_for(lambda: not shows(theirs)))
os.write(ours, b"\x03")
print("ended by:", signal.Signals(os.WTERMSIG(os.waitpid(child, 0)[1])).name)
print("shown:", shows(theirs))
PY
try_line 'python3 interrupt.py'
try_line 'ls typed.pem*'
