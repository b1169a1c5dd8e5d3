#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of the documents: what they show is what comes out.

usage: examples.py PROGRAM DOCUMENT...

An example is a line with "$ " that bash runs, with the next ones if it ends in a
bar or a backslash, or up to the end of a here-document; the lines behind it are
what it must print. They stand in blocks that begin with ```console in Markdown,
and in literal displays in a manual page. Those of a document are run one after
another by one shell, in a folder of their own, which is the home folder. In
Markdown that is as a fresh clone that was built: the program is where it is
built, and not in the PATH. A manual page is of what is installed, and where it
names a fixture in a comment, it has been unpacked there. Sizes of bundles depend
on libzstd's version, ages and tools on the machine: they are not compared.
Prints TAP.
"""
import os
import re
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
FIXTURES = os.path.join(HERE, "fixtures")
TRITON = os.path.join(HERE, "build", "venv", "bin", "python3")

# Needs a CUDA toolkit, or what another example made by one.
WITH_TOOLS = ("tkbundle compile", " made", "softmax.cubin")

# Needs the program for archives, or what another example made by it.
WITH_LIBARCHIVE = ("tkbundle import", "tkbundle export",
                   "kernels.tar.gz")

# Needs a worker with LLVM, or what another example made by one.
WITH_LLVM = (".llir", "rows.", " made")

# Needs Python to load the libraries, which it cannot if they have sanitizers.
WITH_LIBRARY = ("import tkbundle\n",)

# Needs Triton.
WITH_TRITON = ("kernels.py:", "compile kernels.json", "model/sm_90 cache",
               "python3 kernels.py")

# Works where the file system keeps access times.
WITH_TIMES = ("stats --used", "tkbundle run")

# What the program looks at, and what its words could depend on.
VARIABLES = ("TRITON_CACHE_DIR", "TRITON_HOME", "TORCHINDUCTOR_CACHE_DIR",
             "CUDA_HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME",
             "XDG_STATE_HOME",
             "TKBUNDLE_ENGINES", "VLLM_CACHE_ROOT", "VLLM_CONFIG_ROOT",
             "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE",
             "SSL_CERT_DIR")

ESCAPES = {r"\e": "\\", r"\-": "-", r"\&": "", r"\(aq": "'", r"\(dq": '"'}


def unescape(text):
    """What roff makes of a literal line."""
    return re.sub(r"\\(?:\(..|.)", lambda found: ESCAPES[found.group()], text)


def blocks_of(document):
    with open(document, encoding="utf-8") as file:
        text = file.read()
    if document.endswith(".md"):
        return re.findall(r"^```console\n(.*?)^```", text, re.M | re.S)
    displays = re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", text, re.M | re.S)
    return [unescape(display) for display in displays
            if display.startswith("$ ")]


def examples(document):
    for block in blocks_of(document):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            while command.endswith(("|", "\\")):
                more, _, output = output.partition("\n")
                command += "\n" + more
            here = re.search(r"<<'(\w+)'", command)
            if here:
                text, end, output = output.partition(f"\n{here.group(1)}\n")
                command += "\n" + text + end
            yield command, output


def furnish_venv(venv):
    """What ./bootstrap test fetched, with the toolkit of this machine."""
    os.mkdir(venv)
    ours = os.path.join(HERE, "build", "venv")
    for name in os.listdir(ours) if os.path.isdir(ours) else ():
        if name != "cuda":
            os.symlink(os.path.join(ours, name), os.path.join(venv, name))
    if os.environ.get("TKB_TEST_CUDA"):
        os.symlink(os.environ["TKB_TEST_CUDA"], os.path.join(venv, "cuda"))


def furnish(folder, document, program):
    """Put into `folder` what the examples of `document` start from."""
    if document.endswith(".md"):
        for name in os.listdir(HERE):
            if name != "build" and not name.startswith("."):
                os.symlink(os.path.join(HERE, name),
                           os.path.join(folder, name))
        os.mkdir(os.path.join(folder, "build"))
        os.symlink(os.path.dirname(program),
                   os.path.join(folder, "build", "release"))
        furnish_venv(os.path.join(folder, "build", "venv"))
        return
    os.symlink(FIXTURES, os.path.join(folder, "fixtures"))
    with open(document, encoding="utf-8") as file:
        named = re.findall(r'^\.\\".* fixtures/(\S+\.tar\.gz)', file.read(),
                           re.M)
    for name in named:
        with tarfile.open(os.path.join(FIXTURES, name)) as archive:
            archive.extractall(folder)


def normal(output):
    output = re.sub(r"\([\d.]+ [kM]?B\)", "(SIZE)", output)
    output = output.replace(", use unknown", "")
    output = re.sub(r" with (?:LLVM|NVRTC|Triton|ptxas|nvJitLink) .* to ",
                    " with TOOLS to ", output)
    # Of a ref, versions of Triton stand behind it.
    output = re.sub(r" \d+s(?=$|  triton )", " AGE", output, flags=re.M)
    output = re.sub(r'("age": ?)\d+', r"\1AGE", output)
    output = re.sub(r'"knows_use": ?(true|false)', '"knows_use": FLAG', output)
    return re.sub(r'("bundle_size": ?)[1-9]\d*', r"\1SIZE", output)


def keeps_access_times(folder):
    with tempfile.NamedTemporaryFile("w+", dir=folder) as file:
        file.write("x")
        file.flush()
        os.utime(file.name, (0, 0))
        file.seek(0)
        file.read()
        return os.stat(file.name).st_atime > 0


def why_not(command, folder):
    """Why an example cannot be run here; nothing if it can."""
    if (any(words in command for words in WITH_TIMES) and
            not keeps_access_times(folder)):
        return "the file system keeps no access times"
    if (not os.path.exists(TRITON) and
            any(words in command for words in WITH_TRITON)):
        return "there is no Triton in build/venv"
    if (not os.environ.get("TKB_TEST_LLVM") and
            any(words in command for words in WITH_LLVM)):
        return "the worker has no LLVM"
    if (os.environ.get("TKB_TEST_SANITIZED") and
            any(words in command for words in WITH_LIBRARY)):
        return "Python cannot load libraries with sanitizers"
    if (not os.environ.get("TKB_TEST_LIBARCHIVE") and
            any(words in command for words in WITH_LIBARCHIVE)):
        return "archives are not read without libarchive"
    if (not os.environ.get("TKB_TEST_CUDA") and
            any(words in command for words in WITH_TOOLS)):
        return "there is no CUDA toolkit"
    return ""


def environment(document, program, folder):
    env = {name: value for name, value in os.environ.items()
           if name not in VARIABLES and not name.startswith("TKBUNDLE_")}
    if not document.endswith(".md"):
        env["PATH"] = os.path.dirname(program) + ":" + env["PATH"]
        env["CUDA_HOME"] = os.environ.get("TKB_TEST_CUDA", "")
    return dict(env, HOME=folder, TERM="dumb", LC_ALL="C.UTF-8",
                TKBUNDLE_GPU="")


def run(commands, folder, env):
    """What each of the commands prints, in one shell."""
    with tempfile.TemporaryDirectory() as place:
        script = []
        for number, command in enumerate(commands):
            path = os.path.join(place, str(number))
            with open(path, "w", encoding="utf-8") as file:
                file.write(command)
            # Machines that run tests are busy.
            script.append("unset TKBUNDLE_WAIT" if " config" in command
                          else "export TKBUNDLE_WAIT=60s")
            script.append(f'eval "$(cat {path})" </dev/null '
                          f'>{path}.out 2>&1')
        subprocess.run(["bash", "-c", "\n".join(script) + "\nexit 0"],
                       cwd=folder, check=False, env=env,
                       stdin=subprocess.DEVNULL)
        for number in range(len(commands)):
            with open(os.path.join(place, f"{number}.out"),
                      encoding="utf-8", errors="replace") as file:
                # No page can tell where the folder lies.
                yield file.read().replace(folder, "/home/op")


def judge(program, document):
    """Run what `document` shows: each command, what it printed if that is not
    what is shown, else None, and why it was not run, if so."""
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        furnish(folder, document, program)
        env = environment(document, program, folder)
        shown = [(command, wanted, why_not(command, folder))
                 for command, wanted in examples(document)]
        printed = run(["" if skip else command for command, _, skip in shown],
                      folder, env)
        for (command, wanted, skip), got in zip(shown, printed):
            is_good = skip or normal(got) == normal(wanted)
            yield command, None if is_good else got, skip


def in_one_line(command):
    return re.sub(r"\s+", " ", command)


def main():
    program = os.path.realpath(sys.argv[1])
    number = failed = 0
    for document in sys.argv[2:]:
        for command, fault, skip in judge(program, document):
            number += 1
            word = "ok" if fault is None else "not ok"
            name = os.path.basename(document) + ": " + in_one_line(command)
            print(f"{word} {number} - {name}"
                  f"{' # SKIP ' + skip if skip else ''}")
            if fault is not None:
                failed += 1
                print("\n".join(f"# {line}" for line in fault.splitlines()))
    print(f"1..{number}")
    return 1 if failed or not number else 0


if __name__ == "__main__":
    sys.exit(main())
