# SPDX-License-Identifier: Apache-2.0
"""Versions of engines, and the refs that have them."""
import json
import os
import sys

from scene import equal, require, test, write


def install(scene, folder, *packages, script="vllm"):
    """A Python without a program, with these packages, that a script names."""
    python = scene.path(folder, "bin", "python3")
    write(python, "#!/bin/sh\nexit 9\n")
    write(scene.path(folder, "bin", script), f"#!{python}\n")
    os.chmod(python, 0o755)
    os.chmod(scene.path(folder, "bin", script), 0o755)
    for package in packages:
        os.makedirs(scene.path(folder, "lib", "python3.12", "site-packages",
                               package + ".dist-info"))
    return scene.path(folder, "bin", script)


def told(scene, *command, **env):
    """The output of run -v before the command starts; the command need not exist."""
    os.makedirs(scene.path("one"), exist_ok=True)
    ended = scene.go([scene.program, "run", "-v", "--push", "never", "--",
                      *command],
                     env={"HOME": scene.path("one"),
                          "PYTHONNOUSERSITE": "1", **env})
    return [line.removeprefix("tkbundle: ") for line in
            ended.err.splitlines()]


@test("the version of the command's own Python is found, without starting "
      "that, and is in the ref")
def _(scene):
    vllm = install(scene, "venv", "vllm-0.24.1+cu128", "vllm_extra-9",
                   "Vllm-x")
    os.rmdir(scene.path("venv", "lib", "python3.12", "site-packages",
                        "Vllm-x.dist-info"))
    lines = told(scene, vllm, "serve", "meta/Llama-3")

    require("engine vllm 0.24.1+cu128" in lines, lines)
    require("set TKBUNDLE_REF=vllm-0.24/meta/Llama-3/{arch}" in lines, lines)
    require("set VLLM_CONFIG_ROOT=/etc/vllm" in lines, lines)
    # By a Python, and by one that only the second line names.
    lines = told(scene, scene.path("venv", "bin", "python3"), "-m",
                 "vllm.entrypoints", "--model", "x")
    require("set TKBUNDLE_REF=vllm-0.24/x/{arch}" in lines, lines)
    write(vllm, "#!/bin/sh\n'''exec' \"" +
          scene.path("venv", "bin", "python3") + "\" \"$0\" \"$@\"\n")
    lines = told(scene, vllm, "serve", "x")
    require("set TKBUNDLE_REF=vllm-0.24/x/{arch}" in lines, lines)


@test("SGLang's model is in the ref, however the command names it")
def _(scene):
    sglang = install(scene, "venv", "sglang-0.5.23", script="sglang")
    python = scene.path("venv", "bin", "python3")
    for command in ((sglang, "serve", "meta/Llama-3", "--tp", "2"),
                    (sglang, "serve", "--tp", "2", "--model-path", "meta/Llama-3"),
                    (python, "-m", "sglang.launch_server", "--model=meta/Llama-3")):
        require("set TKBUNDLE_REF=sglang-0.5/meta/Llama-3/{arch}" in
                told(scene, *command), command)


@test("vLLM's model is in the ref, also behind options")
def _(scene):
    vllm = install(scene, "venv", "vllm-0.24.1")
    for words in (("--port", "80", "meta/L"), ("--port=80", "meta/L", "-tp", "2"),
                  ("-tp", "2", "meta/L", "--port", "80"),
                  ("--trust-remote-code", "meta/L"), ("--model=meta/L", "-tp", "2"),
                  ("--tokenizer", "a/b", "--model", "meta/L")):
        require("set TKBUNDLE_REF=vllm-0.24/meta/L/{arch}" in
                told(scene, vllm, "serve", *words), words)
    for words in (("--port", "80"), ("--base-url", "http://localhost:80"),
                  ("--config", "/etc/vllm.yaml"),
                  ("--trust-remote-code", "meta/L", "--chat-template", "./x.jinja"),
                  ("--trust-remote-code", "meta/L", "--download-dir", "/models"),
                  ("--trust-remote-code", "meta/L", "--tokenizer", "a/b")):
        lines = told(scene, vllm, "serve", *words)
        require("set TKBUNDLE_REF=vllm-0.24/{arch}" in lines, lines)


@test("the ptxas of the command's own Python is set, and that Python is not started")
def _(scene):
    vllm = install(scene, "venv", "vllm-0.24.1")
    ptxas = scene.path("venv", "lib", "python3.12", "site-packages", "triton",
                       "backends", "nvidia", "bin", "ptxas")
    write(ptxas, "")
    setting = f"set TRITON_PTXAS_PATH={ptxas}"
    require(setting not in told(scene, vllm, "serve", "x"), "it cannot be run")
    os.chmod(ptxas, 0o755)
    require(setting in told(scene, vllm, "serve", "x"))
    require(setting not in told(scene, vllm, "serve", "x",
                                TRITON_PTXAS_PATH="/mine"))


@test("packages are found where a .pth file says, as Python finds them")
def _(scene):
    vllm = install(scene, "venv")
    packages = scene.path("venv", "lib", "python3.12", "site-packages")
    os.makedirs(packages)
    os.makedirs(scene.path("more", "vllm-0.24.1.dist-info"))
    ptxas = scene.path("more", "triton", "backends", "nvidia", "bin", "ptxas")
    write(ptxas, "", 0o755)
    write(os.path.join(packages, "more.pth"),
          f"# more\n\nimport nothing\nnowhere\n{scene.path('more')}\r\n")

    lines = told(scene, vllm, "serve", "x")

    require("engine vllm 0.24.1" in lines, lines)
    require(f"set TRITON_PTXAS_PATH={ptxas}" in lines, lines)


@test("a command that is named from this folder on is found from any other, too")
def _(scene):
    install(scene, "venv", "vllm-0.24.1")
    packages = os.path.join("venv", "lib", "python3.12", "site-packages")
    ptxas = os.path.join(packages, "triton", "backends", "nvidia", "bin", "ptxas")
    write(scene.path(ptxas), "", 0o755)
    setting = f"set TRITON_PTXAS_PATH={scene.path(ptxas)}"
    module = ("-m", "vllm.server", "--model", "x")
    for command in (("venv/bin/python3", *module), ("./venv/bin/python3", *module),
                    ("venv/bin/vllm", "serve", "x")):
        lines = told(scene, *command)
        require(setting.replace("/venv", "/./venv") in lines if command[0][0] == "."
                else setting in lines, lines)
    lines = told(scene, "python3", *module, PATH="venv/bin:" + os.environ["PATH"])
    require(setting in lines, lines)


@test("of pyenv's scripts, what they start is found: by the variable, the file here "
      "or above, or pyenv's own")
def _(scene):
    root = scene.path("pyenv")
    for version in ("3.9.18", "3.12.1", "3.12.10"):
        install(scene, f"pyenv/versions/{version}", f"vllm-0.24.{version[2:]}")
        ptxas = os.path.join(root, "versions", version, "lib", "python3.12",
                             "site-packages", "triton", "backends", "nvidia",
                             "bin", "ptxas")
        write(ptxas, "", 0o755)
    for name in ("vllm", "python3"):
        shim = os.path.join(root, "shims", name)
        write(shim, "#!/usr/bin/env sh\nexit 9\n", 0o755)
    path = os.path.join(root, "shims") + ":" + os.environ["PATH"]

    def is_found(version, *command, **env):
        lines = told(scene, *command, PATH=path, **env)
        wanted = (f"set TRITON_PTXAS_PATH={root}/versions/{version}/lib/")
        require(any(line.startswith(wanted) for line in lines), version, lines)
        require(f"engine vllm 0.24.{version[2:]}" in lines, lines)

    vllm = ("vllm", "serve", "x")
    env = {"PYENV_VERSION": "none:3.9.18"}
    is_found("3.9.18", *vllm, **env)
    is_found("3.9.18", os.path.join(root, "shims", "vllm"), "serve", "x", **env)
    is_found("3.9.18", "python3", "-m", "vllm.server", "--model", "x", **env)
    write(os.path.join(root, "version"), "3.12.1\n")
    env = {"PYENV_VERSION": ""}
    is_found("3.12.1", *vllm, **env)
    # The newest of those that begin so.
    write(scene.path(".python-version"), "3.12\n")
    is_found("3.12.10", *vllm, **env)
    # One that pyenv does not have is looked for behind its scripts.
    path = (os.path.join(root, "shims") + ":" +
            os.path.join(root, "versions", "3.12.1", "bin"))
    write(scene.path(".python-version"), "system\n")
    is_found("3.12.1", *vllm, **env)


@test("a version that the profile does not know is named, by run and by "
      "collect")
def _(scene):
    vllm = install(scene, "venv", "vllm-0.99.0")
    note = ("engine vllm 0.99.0, an unknown version: its profile was checked "
            "with 0.24, 0.33")
    lines = told(scene, vllm, "serve", "x")
    equal(lines.count(note), 1, lines)
    require("set TKBUNDLE_REF=vllm-0.99/x/{arch}" in lines, lines)

    os.makedirs(scene.path("one", ".triton", "cache"))
    path = os.path.dirname(vllm) + ":" + os.environ["PATH"]
    env = {"HOME": scene.path("one"), "PATH": path, "PYTHONNOUSERSITE": "1"}
    for words in (("collect", "-o", "a.tkb"),
                  ("push", "a", "--remote", scene.remote)):
        ended = scene.tkbundle(*words, "-v", "--engine", "vllm", env=env)
        require(note in ended.err, words, ended.err)
        ended = scene.tkbundle(*words, "--engine", "vllm", env=env)
        require(note not in ended.err, words, ended.err)


@test("where no version is found, the ref has none; the configuration may "
      "have another")
def _(scene):
    vllm = install(scene, "venv", script="vllm")
    lines = told(scene, vllm, "serve", "x")
    require("engine vllm: no version of it is found" in lines, lines)
    require("set TKBUNDLE_REF=vllm/x/{arch}" in lines, lines)

    for pattern, ref in (("a/{engine}/{version}/{arch}", "a/vllm/{arch}"),
                         ("{version}/{model}_b", "x_b"),
                         ("{arch}", "{arch}")):
        lines = told(scene, vllm, "serve", "x", TKBUNDLE_ENGINE_REF=pattern)
        require("set TKBUNDLE_REF=" + ref in lines, pattern, lines)
    lines = told(scene, vllm, "serve", "x", TKBUNDLE_REF="mine")
    require(not any("TKBUNDLE_REF" in line for line in lines), lines)
    require("'engine-ref' wants" in told(
        scene, vllm, "serve", "x", TKBUNDLE_ENGINE_REF="{gpu}")[-1])


@test("the Python that a script names is asked where Triton's ptxas and "
      "packages are")
def _(scene):
    install(scene, "venv", script="serve")
    python = scene.path("venv", "bin", "python3")
    packages = scene.path("venv", "lib", "python3.12", "site-packages")
    triton = os.path.join(packages, "triton")
    ptxas = os.path.join(triton, "backends", "nvidia", "bin", "ptxas")
    write(ptxas, "#!/bin/sh\n", 0o755)
    write(os.path.join(triton, "__init__.py"), "")
    write(scene.path("engines", "mine.json"), json.dumps({
        "engine": "mine", "package": "mine", "versions": [],
        "commands": ["serve"], "models": [], "ptxas": 1,
        "roots": [{"name": "mine", "variable": "", "rules": [],
                   "places": [["HOME", "/mine"]]}],
        "outside": [{"name": "t", "package": "triton", "places": []}],
        "set": []}))
    # Only this Python finds the packages beside it.
    write(python, f"#!/bin/sh\nPYTHONPATH={packages} "
          f"exec {sys.executable} -S \"$@\"\n", 0o755)
    env = {"TKBUNDLE_ENGINES": scene.path("engines")}
    script = scene.path("venv", "bin", "serve")
    search = {"PATH": os.path.dirname(script) + ":" + os.environ["PATH"]}

    for head in (f"#!{python}\n", "#!/usr/bin/env python3\n",
                 f"#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n"):
        write(script, head)
        for command in (script, "serve"):
            lines = told(scene, command, **env, **search)
            require(f"set TRITON_PTXAS_PATH={ptxas}" in lines, head, lines)
            require(f"set TKBUNDLE_PYTHON={python}" in lines, head, lines)
    # Variables that the user has set are kept.
    lines = told(scene, script, TRITON_PTXAS_PATH="/own",
                 TKBUNDLE_PYTHON="/bin/false", **env)
    require(not any("PTXAS" in line or "PYTHON" in line for line in lines),
            lines)


@test("config --engine names the Python that is asked")
def _(scene):
    vllm = install(scene, "venv", "vllm-0.24.0", script="vllm")
    python = scene.path("venv", "bin", "python3")
    path = os.path.dirname(vllm) + ":" + os.environ["PATH"]
    for engine, env, named in (
            ("vllm", {"PATH": path}, python),
            ("vllm", {"PATH": path, "TKBUNDLE_PYTHON": "/bin/sh"}, "/bin/sh"),
            ("vllm", {"TKBUNDLE_PYTHON": "no/python"}, None)):
        ended = scene.tkbundle("config", "--engine", engine, "--json",
                               env={"PYTHONNOUSERSITE": "1", **env})
        equal(json.loads(ended.out)["engines"][0]["python"], named)
