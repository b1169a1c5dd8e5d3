#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `tkbundle compile` to its table of options and inputs.

usage: compile_options.py PROGRAM SOURCES [KIND...]

The tables of docs/compile.md and of the manual page are the same, and have every
option. In each cell: an option that is said to have a meaning changes the keys,
what comes out, or what is told; one that has none is refused, with exit status 2
and a sentence that names option and input, and nothing is written. What needs a
tool that is not there is skipped. Of the kinds of input, those are tried that are
named, or all. Triton's kernels are compiled to an entry and to PTX; whether an option is
taken for their other stages is asked of a Python that is not there. With
TKB_TEST_CELLS=all they are compiled, too. Modules of Inductor's are compiled by the stand-in for PyTorch beside this
file, or by the Python with PyTorch that TKB_TEST_TORCH names. Prints TAP.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

from tap import Skip, Tap

OUTS = ("entry", "cubin", "ptx", "llir", "ttgir", "ttir")
COLUMNS = ("ir", "ptx", "cuda", "ttir", "ttgir", "kernel", "list", "module", "recorded")
CAN = {"ir": OUTS[:4], "ptx": OUTS[:3], "cuda": OUTS[:3], "ttir": OUTS, "ttgir": OUTS[:5],
       "kernel": OUTS, "list": OUTS, "module": OUTS[:1], "recorded": OUTS}

# The inputs, by kind; "bc" is IR, too, and a folder has modules.
INPUTS = {"ir": "k.ll", "bc": "k.bc", "ptx": "k.ptx", "cuda": "k.cu",
          "ttir": "k.ttir", "ttgir": "k.ttgir",
          "kernel": "k.py:copy_kernel", "list": "k.json", "module": "mo/module.py",
          "folder": "modules", "recorded": "k.tkb"}
BAD = {"ir": "bad.ll", "bc": "bad.bc", "ptx": "bad.ptx", "cuda": "bad.cu",
       "ttir": "bad.ttir", "ttgir": "bad.ttgir",
       "kernel": "bad.py:copy_kernel", "list": "bad.json", "module": "bad.py",
       "folder": "broken", "recorded": "bad.tkb"}
BY_TRITON = ("kernel", "list", "ttir", "ttgir", "recorded")
COLUMN = {**{kind: kind for kind in COLUMNS}, "bc": "ir", "folder": "module"}
JOBS = {"module": 2, "folder": 2}  # configurations of a kernel
SIGNATURE = "*fp32:16, *fp32:16, i32, 128"

IR = """target triple = "nvptx64-nvidia-cuda"
declare float @__nv_own(float)
define ptx_kernel void @k(ptr addrspace(1) %p, i32 %n) {
  %a = load float, ptr addrspace(1) %p
  %b = call float @__nv_own(float %a)
  store float %b, ptr addrspace(1) %p
  ret void
}
"""
LIBRARY = """target triple = "nvptx64-nvidia-cuda"
define float @__nv_own(float %%x) {
  %%y = fadd float %%x, %s
  ret float %%y
}
"""
RULE = """define i32 @double.pattern(i32 %x) #0 {
  %r = add i32 %x, %x
  ret i32 %r
}
define i32 @double.replacement(i32 %x) {
  %r = shl i32 %x, 1
  ret i32 %r
}
attributes #0 = { "tkb.rule"="exact" }
"""
PRODUCT = """target triple = "nvptx64-nvidia-cuda"
@w = internal addrspace(1) constant <4 x i8> <i8 1, i8 2, i8 3, i8 4>
declare i32 @llvm.vector.reduce.add.v4i32(<4 x i32>)
define ptx_kernel void @k(ptr addrspace(1) align 16 %p, i32 %n) {
  %a = load <4 x i8>, ptr addrspace(1) %p
  %b = load <4 x i8>, ptr addrspace(1) @w
  %c = sext <4 x i8> %a to <4 x i32>
  %d = sext <4 x i8> %b to <4 x i32>
  %e = mul <4 x i32> %c, %d
  %f = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %e)
  store i32 %f, ptr addrspace(1) %p
  ret void
}
"""
PTX = (".version 8.0\n.target sm_80\n.address_size 64\n"
       ".visible .entry k(.param .u64 a)\n{ ret; }\n")
CUDA = 'extern "C" __global__ void k(float *p)\n{\n\tp[0] *= 2;\n}\n'
PYTHON = """import triton
import triton.language as tl


@triton.jit
def copy_kernel(x, out, n, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(out + at, tl.load(x + at, at < n), at < n)
"""
MODULE = """import triton
import triton.language as tl
from torch._inductor.runtime import triton_heuristics, triton_helpers
from torch._inductor.runtime.hints import DeviceProperties

triton_helpers.set_driver_to_gpu()


@triton_heuristics.pointwise(
    size_hints={'x': 32768}, filename=__file__, min_elem_per_thread=0,
    triton_meta={'signature': {'x': '*fp32', 'out': '*fp32', 'n': 'i32', 'XBLOCK': 'constexpr'},
                 'device': DeviceProperties(type='cuda', index=0, multi_processor_count=132, cc=90,
                                            major=9, regs_per_multiprocessor=65536,
                                            max_threads_per_multi_processor=2048,
                                            max_threads_per_block=1024, warp_size=32),
                 'constants': {}, 'configs': [{(0,): [['tt.divisibility', 16]],
                                               (1,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'autotune_hints': set(), 'kernel_name': 'triton_poi',
                   'mutated_arg_names': [], 'autotune_pointwise': True})
@triton.jit
def triton_poi(x, out, n, XBLOCK: tl.constexpr):
    at = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)
    tl.store(out + at, tl.load(x + at, at < n), at < n)
"""
WINNER = """import json, sys
from torch._inductor.runtime import triton_helpers, triton_heuristics
triton_heuristics.torch.cuda.is_available = lambda: True
triton_helpers.set_driver_to_gpu = lambda: None
sys.path.insert(0, "mo")
import module
configs = module.triton_poi.configs
best = {**configs[-1].all_kwargs(), "configs_hash": triton_heuristics.hash_configs(configs)}
assert len(configs) > 1
json.dump(best, open("mo/best.best_config", "w"))
"""
LAYOUT = ("#l = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], "
          "warpsPerCTA = [4], order = [0]}>\n")
ATTRIBUTES = ('attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, '
              '"ttg.threads-per-warp" = 32 : i32} ')
TTIR = """%smodule %s{
  tt.func public @k(%%x: !tt.ptr<f32>) {
    %%at = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32%s>
    %%all = tt.splat %%x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>%s>
    %%to = tt.addptr %%all, %%at : tensor<128x!tt.ptr<f32>%s>, tensor<128xi32%s>
    %%one = arith.constant dense<1.0> : tensor<128xf32%s>
    tt.store %%to, %%one : tensor<128x!tt.ptr<f32>%s>
    tt.return
  }
}
"""
LIST = '[{"file": "%s", "kernel": "copy_kernel", "signature": "' + SIGNATURE + '"}]\n'
PTXAS = """#!/bin/sh
if [ "$1" = --version ]; then
	echo 'Cuda compilation tools, release 12.8, V12.8.93'
	exit
fi
exec '%s' "$@"
"""

# What is given for an option; further options that the comparison begins with.
VALUES = {"target": "cuda:80", "cache": "other", "jobs": "1", "ptxas": "./ptxas",
          "cubin-with": "nvjitlink", "ptxas-option": "--opt-level=1", "include": "folder",
          "define": "X=1", "libdevice": "two.ll", "name": "k", "num-warps": "8",
          "num-stages": "5", "metadata": "meta.json", "keep": "k",
          "bind": "n=3", "bind-from": "call.json", "without": "dce", "quant": "dynamic", "rules": "rule.ll",
          "signature": "*fp32, *fp32, i32, 128", "python": "./python",
          "emit": "ptx", "output": "out/", "log": "log.txt", "deadline": "1ms"}
UNASKED = SIGNATURE.replace("i32", "i8")  # a launch passes another type
FINALIZED = ("keep", "bind", "bind-from", "without", "fast", "quant", "rules")


class Scene(Tap):
    def __init__(self, program, sources, folder, kinds):
        super().__init__()
        self.program = os.path.realpath(program)
        self.sources = sources
        self.folder = folder
        self.bases = {}
        self.ptxas = os.environ.get("TKB_TEST_PTXAS", "")
        self.venv = os.path.join(sources, "build", "venv")
        self.torch = os.environ.get("TKB_TEST_TORCH", "")
        self.env = {name: value for name, value in os.environ.items()
                    if not re.match(r"TRITON_|TKBUNDLE_|CUDA_|PYTHONPATH|XDG_", name)}
        self.env.update(HOME=folder, TMPDIR=folder, PYTHONDONTWRITEBYTECODE="1",
                        VIRTUAL_ENV=self.venv)
        for tool in glob.glob(self.venv + "/lib/python3*/site-packages/triton/backends/nvidia"
                              "/bin/nvdisasm"):
            self.env["TRITON_NVDISASM_PATH"] = tool
        if "TKB_TEST_CUDA" in os.environ:
            self.env["CUDA_HOME"] = os.environ["TKB_TEST_CUDA"]
        self.write_files()
        self.lacks = {kind: self.find_lack(kind) for kind in kinds}

    def env_for(self, words):
        """Modules of Inductor's want a PyTorch."""
        names = [INPUTS[kind] for kind in ("module", "folder")]
        if not set(words) & set(names + [BAD["module"], BAD["folder"]]):
            return self.env
        if self.torch:
            return {**self.env, "VIRTUAL_ENV": os.path.dirname(os.path.dirname(self.torch))}
        return {**self.env, "PYTHONPATH": os.path.join(self.sources, "tests", "compile",
                                                       "stand_in")}

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, contents, mode=0o644):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(contents)
        os.chmod(self.path(name), mode)

    def write_files(self):
        files = {"k.ll": IR, "product.ll": PRODUCT, "one.ll": LIBRARY % "1.0", "two.ll": LIBRARY % "2.0",
                 "rule.ll": RULE, "k.ptx": PTX, "k.cu": CUDA, "k.py": PYTHON,
                 "k.json": LIST % "k.py",
                 "k.ttir": TTIR % ("", "", *[""] * 6), "bad.ttir": "no IR",
                 "k.ttgir": TTIR % (LAYOUT, ATTRIBUTES, *[", #l"] * 6), "bad.ttgir": "no IR", "bad.ll": "no IR", "bad.bc": "no IR",
                 "bad.tkb": "no bundle", "bad.ptx": "no PTX", "bad.cu": "no CUDA C", "bad.py": "1 +\n",
                 "bad.json": LIST % "bad.py",
                 "mo/module.py": MODULE, "modules/mo/module.py": MODULE,
                 "broken/mo/module.py": MODULE + "1 +\n",
                 "unasked.json": (LIST % "k.py").replace(SIGNATURE, UNASKED),
                 "call.json": '{"n": 3}',
                 "meta.json": '{"num_warps": 2, "maxnreg": 64}'}
        for name, contents in files.items():
            self.write(name, contents)
        os.mkdir(self.path("folder"))
        self.write("ptxas", PTXAS % self.ptxas, 0o755)
        self.write("python", "#!/bin/sh\nexec \"$VIRTUAL_ENV/bin/python3\" \"$@\"\n", 0o755)
        for tool in ("/usr/lib/llvm-22/bin/llvm-as", "llvm-as"):
            if shutil.which(tool):
                subprocess.run([tool, self.path("k.ll"), "-o", self.path("k.bc")], check=True)
                return

    def compile(self, *words):
        return subprocess.run([self.program, "compile", *words], text=True, check=False,
                              cwd=self.folder, env=self.env_for(words),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)

    def files(self):
        """Each file below the folder, with its contents."""
        found = {}
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, self.folder)] = file.read()
        return found

    def clean(self):
        for name in ("cache", "other", "out", ".triton", "log.txt"):
            path = self.path(name)
            if os.path.isdir(path):
                shutil.rmtree(path)
            elif os.path.exists(path):
                os.unlink(path)

    def words(self, kind, out, option):
        """A command line that compiles, less the option at hand."""
        words = {"target": ["--target", "cuda:90"]}
        if out == "entry":
            words["cache"] = ["--cache", "cache"]
        elif option not in ("emit", "output"):
            words["emit"] = ["--emit", out, "-o", "out/"]
        if COLUMN[kind] == "ir" and out != "llir":
            words["libdevice"] = ["--libdevice", "one.ll"]
        if kind == "kernel":
            words["signature"] = ["--signature", SIGNATURE]
        if option in FINALIZED or \
                kind in ("ir", "bc") and out == "llir" and option in ("name", "print-after-all"):
            words["finalize"] = ["--finalize"]
        if option == "python" and out != "entry":
            words["json"] = ["--json"]
        if kind in BY_TRITON or COLUMN[kind] == "module":
            words["jobs"] = ["-j1"]
        return words

    def record(self):
        """A bundle of the kernel for another target."""
        self.clean()
        self.compile("k.json", "--target", "cuda:86", "--cache", "cache")
        subprocess.run([self.program, "collect", "cache", "-o", "k.tkb"], check=False,
                       cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.clean()

    def choose_winner(self):
        """The file that Inductor writes beside a module whose kernel it has measured."""
        env = self.env_for([INPUTS["module"]])
        subprocess.run([env["VIRTUAL_ENV"] + "/bin/python3", "-c", WINNER], check=True,
                       cwd=self.folder, env=env, stdin=subprocess.DEVNULL)
        shutil.copy(self.path("mo/best.best_config"), self.path("modules/mo"))

    def find_lack(self, kind):
        """Why inputs of this kind cannot be compiled here; None: they can."""
        if not self.ptxas:
            return "there is no ptxas"
        if kind == "bc" and not os.path.exists(self.path("k.bc")):
            return "there is no llvm-as"
        if kind == "recorded":
            self.record()
        ended = self.compile(INPUTS[kind], *sum(self.words(kind, "entry", "").values(), []))
        if ended.returncode != 0 and re.search("without LLVM|no NVRTC|no Python|has no Triton|there is no 'k.tkb'"
                                               "|no 'python3'", ended.stderr):
            return ended.stderr.strip()
        if COLUMN[kind] == "module":
            self.choose_winner()
        return None

    def outcome(self, words, inputs):
        self.clean()
        ended = self.compile(*inputs, *words)
        made = {name: contents for name, contents in self.files().items()
                if name.split(os.sep)[0] in ("cache", "other", "out", "log.txt")
                or name.startswith(".triton/cache")}
        return ended, {name for name in made if ".tkbundle" not in name and
                       "__triton_launcher" not in name}

    def base(self, words, inputs):
        key = tuple(words), tuple(inputs)
        if key not in self.bases:
            self.bases[key] = self.outcome(words, inputs)
        return self.bases[key]


def read_docs(sources):
    with open(os.path.join(sources, "docs", "compile.md"), encoding="utf-8") as file:
        rows = re.findall(r"^\| `--([\w-]+)` \| (.*) \|$", file.read(), re.M)
    return {name: [cell.replace("–", "-").replace(" ", "") for cell in cells.split(" | ")]
            for name, cells in rows}


def read_page(sources):
    with open(os.path.join(sources, "man", "tkbundle-compile.1"), encoding="utf-8") as file:
        rows = re.findall(r"^--([\w-]+) +(.*)$", file.read(), re.M)
    words = {word[2] if word == "ttgir" else word[0]: word for word in ("sass", *OUTS)}
    return {name: [cell if cell in ("yes", "-") else ",".join(map(words.get, cell))
                   for cell in cells.split()] for name, cells in rows}


def allowed(table, option, kind):
    """For which outcomes it has a meaning."""
    cell = table[option][COLUMNS.index(COLUMN[kind])]
    can = CAN[COLUMN[kind]]
    return {"yes": can, "-": ()}.get(cell, cell.split(","))


def check_tables(scene, docs, page):
    help_text = subprocess.run([scene.program, "help", "compile"], text=True, check=True,
                               stdout=subprocess.PIPE).stdout
    options = set(re.findall(r"^  (?:-\w, |    )?--([\w-]+)", help_text, re.M)) - {"help"}
    faults = [f"--{name} is not in the table" for name in sorted(options - set(docs))]
    faults += [f"there is no --{name}" for name in sorted(set(docs) - options)]
    faults += [f"--{name}: docs/compile.md has {docs.get(name)}, the page {page.get(name)}"
               for name in sorted(set(docs) | set(page)) if docs.get(name) != page.get(name)]
    return faults + ([] if len(options) > 20 else ["no options were found"])


def given(option, out):
    if option == "emit":
        return ["--emit", out, "-o", "out/"]
    if option == "output":
        return ["-o", "out/", "--emit", out]
    if option in VALUES:
        return [f"--{option}={VALUES[option]}"]
    return [f"--{option}"]


def check_refused(scene, option, kind, out):
    words = sum(scene.words(kind, out, option).values(), [])
    scene.clean()
    before = scene.files()
    ended = scene.compile(INPUTS[kind], *words, *given(option, out))
    faults = []
    if ended.returncode != 2:
        faults.append(f"exit status {ended.returncode}: {ended.stderr}")
    named = {"output": "emit", **{name: "finalize" for name in FINALIZED}}.get(option, option)
    if f"'--{named}" not in ended.stderr or not re.search(
            "has no meaning for|has no use", ended.stderr):
        faults.append(f"it says: {ended.stderr}")
    if "has no meaning" in ended.stderr and f"'{INPUTS[kind]}'" not in ended.stderr:
        faults.append(f"it does not name the input: {ended.stderr}")
    changed = {name for name, contents in scene.files().items() if before.get(name) != contents}
    return faults + [f"it wrote {name}" for name in sorted(changed)]


def effect_of(option, out, ended, base):
    """Whether what the option says shows in what came of it."""
    if option == "keep-going" and out != "entry":
        return None
    shows = {
        "keep-going": re.search(r"compiled [1-9]\d*, hits 0, failed 1 ", ended.stdout)
                      is not None and "left 1" in base.stdout,
        "strict": ended.returncode == 4 and base.returncode == 0,
        "deadline": ended.returncode == 1 and "the deadline of 1ms" in ended.stderr,
        "json": ended.stdout.startswith('{"verb":"compile"'),
        "verbose": re.search("^compiled [A-Z2-7]{52} ", ended.stdout, re.M) is not None,
        "python": "(./python)" in ended.stdout and "(./python)" not in base.stdout,
        "print-after-all": re.search("IR Dump (After|Before)", ended.stderr)
                           is not None and "IR Dump" not in base.stderr,
    }
    return shows.get(option)


def check_effect(scene, option, kind, out):
    if scene.lacks[kind]:
        raise Skip(scene.lacks[kind])
    words = scene.words(kind, out, option)
    inputs = [INPUTS[kind]]
    if option == "keep-going":
        inputs = [BAD[kind], INPUTS[kind]]
    if option == "quant":
        inputs = ["product.ll"]
    if option == "strict":
        inputs = ["unasked.json" if kind == "list" else INPUTS[kind]]
        words["signature"] = ["--signature", UNASKED] if kind == "kernel" else []
    base, before = scene.base(sum(words.values(), []), inputs)
    if option in words:
        del words[option]
    ended, after = scene.outcome(sum(words.values(), []) + given(option, out), inputs)
    if re.search("there is no (nvJitLink|nvdisasm)", ended.stderr):
        raise Skip(ended.stderr.strip())
    is_seen = effect_of(option, out, ended, base)
    fails = option in ("keep-going", "strict", "deadline")
    faults = []
    needs_base = option not in ("emit", "output")
    if not fails and (ended.returncode != 0 or needs_base and base.returncode != 0):
        faults.append(f"{base.returncode} {base.stderr}; {ended.returncode} {ended.stderr}")
    if is_seen is False or is_seen is None and before == after:
        faults.append(f"it has no effect: {ended.stdout}{ended.stderr}")
    return faults


def check_taken(scene, option, kind, out):
    """It is no wrong command line, which is found before anything is compiled."""
    words = scene.words(kind, out, option)
    if option in words:
        del words[option]
    scene.clean()
    ended = scene.compile(INPUTS[kind], *sum(words.values(), []), *given(option, out),
                          "--python", "no/python3")
    is_taken = ended.returncode == 1 and "no/python3" in ended.stderr
    return [] if is_taken else [f"exit status {ended.returncode}: {ended.stderr}"]


def is_compiled(option, kind, out):
    return (os.environ.get("TKB_TEST_CELLS") == "all" or kind not in BY_TRITON
            or out in ("entry", "ptx", "sass") or option in ("emit", "output", "python"))


def concurrency(scene, kind):
    """-j1 does one after another, -j2 two at the same time."""
    if scene.lacks[kind]:
        raise Skip(scene.lacks[kind])
    alone = ("mkdir lock || exit 1\nsleep 0.1\nrmdir lock\n")
    together = ("mkdir first 2>/dev/null || mkdir second\ni=0\n"
                "until [ -d second ]; do\n\ti=$((i + 1))\n\t[ $i -lt 1200 ] || exit 1\n"
                "\tsleep 0.1\ndone\n")
    words = scene.words(kind, "entry", "jobs")
    words.pop("jobs", None)
    words["target"] = ["--target", "cuda:80,cuda:90"]
    faults = []
    for number, body in (("1", alone), ("2", together)):
        head, tail = (PTXAS % scene.ptxas).split("exec", 1)
        scene.write("counted", head + f"cd '{scene.folder}'\n" + body + "exec" + tail, 0o755)
        ended, _ = scene.outcome(sum(words.values(), []) + ["--jobs", number, "--ptxas",
                                                            "./counted"], [INPUTS[kind]])
        if f"compiled {2 * JOBS.get(kind, 1)}, hits 0, failed 0" not in ended.stdout:
            faults.append(f"-j{number}: {ended.stdout}{ended.stderr}")
    for name in ("first", "second", "lock"):
        if os.path.isdir(scene.path(name)):
            os.rmdir(scene.path(name))
    return faults


def check_mixed(scene):
    """The input for which there is no meaning is named, and nothing is done."""
    faults = []
    scene.clean()
    for inputs, options, named in (
            (["k.ll", "k.ptx"], ["--finalize"], "k.ptx"),
            (["k.ptx", "k.ll"], ["--finalize"], "k.ptx"),
            (["k.cu", "k.ll"], ["-DX"], "k.ll"),
            (["k.json", "mo/module.py"], ["--num-stages", "2"], "mo/module.py"),
            (["modules", "k.json"], ["--print-after-all"], "modules"),
            (["k.json", "k.ll"], ["--winners"], "k.json"),
            (["k.json", "k.ll"], ["--num-stages", "2"], "k.ll")):
        ended = scene.compile(*inputs, "--target", "cuda:90", "--cache", "cache", *options)
        if ended.returncode != 2 or f"for '{named}', which is" not in ended.stderr:
            faults.append(f"{inputs} {options}: {ended.returncode} {ended.stderr}")
    if os.path.exists(scene.path("cache")):
        faults.append("it wrote")
    return faults


def check_pairs(scene):
    """What one option makes meaningless of another is refused."""
    faults = []
    for words, sentence in (
            ("k.ptx --cubin-with nvjitlink --ptxas ./ptxas",
             "'--ptxas' has no meaning with '--cubin-with nvjitlink'"),
            ("k.ll --fast", "'--without', '--rules', '--fast', '--keep', '--bind', '--bind-from' and '--quant' want '--finalize'"),
            ("k.ll --emit llir -o out/ --name k",
             "'--name' and '--print-after-all' want '--finalize' with '--emit llir'"),
            ("k.ll --emit llir -o out/ --print-after-all",
             "'--name' and '--print-after-all' want '--finalize' with '--emit llir'")):
        ended = scene.compile(*words.split(), "--target", "cuda:90")
        if ended.returncode != 2 or sentence not in ended.stderr:
            faults.append(f"{words}: {ended.returncode} {ended.stderr}")
    return faults


def check_no_ptxas(scene, kind):
    """A --ptxas that is none fails, whatever is to be compiled."""
    if scene.lacks[kind]:
        raise Skip(scene.lacks[kind])
    faults = []
    for path, sentence in (("no/ptxas", "there is no program 'no/ptxas'"),
                           ("/bin/echo", "'/bin/echo' does not print a version like ptxas")):
        words = sum(scene.words(kind, "entry", "ptxas").values(), [])
        ended, made = scene.outcome(words + ["--ptxas", path], [INPUTS[kind]])
        if ended.returncode != 1 or sentence not in ended.stderr or made:
            faults.append(f"{path}: {ended.returncode} {ended.stdout}{ended.stderr}")
    return faults


def outs_of(kind, option):
    """What is asked for; bitcode is IR in another shape."""
    if kind == "bc":
        return ("llir",) if option in ("emit", "output") else ("entry",)
    if option in ("emit", "output"):
        return "sass", *OUTS[1:]
    return CAN[COLUMN[kind]]


def try_option(scene, table, option, kind):
    for out in outs_of(kind, option):
        shown = f"--{option}, {kind}, {out}"
        if option == "jobs":
            if out == "entry":
                scene.tap(f"{shown}: has an effect", concurrency, kind)
        elif out in allowed(table, option, kind):
            if is_compiled(option, kind, out):
                scene.tap(f"{shown}: has an effect", check_effect, option, kind, out)
            else:
                scene.tap(f"{shown}: is taken", check_taken, option, kind, out)
        else:
            scene.tap(f"{shown}: is refused", check_refused, option, kind, out)


def main():
    with tempfile.TemporaryDirectory(prefix="tkbundle-options.") as folder:
        kinds = sys.argv[3:] or list(INPUTS)
        scene = Scene(sys.argv[1], sys.argv[2], os.path.realpath(folder), kinds)
        table = read_docs(scene.sources)
        scene.tap("the tables are the same, and have every option", check_tables, table,
                  read_page(scene.sources))
        for kind in kinds:
            for option in table:
                try_option(scene, table, option, kind)
            scene.tap(f"a --ptxas that is none fails, {kind}", check_no_ptxas, kind)
        scene.tap("of several inputs, that without a meaning is named", check_mixed)
        scene.tap("options that exclude each other are refused", check_pairs)
        return scene.end()


if __name__ == "__main__":
    sys.exit(main())
