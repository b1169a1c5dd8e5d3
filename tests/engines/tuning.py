# SPDX-License-Identifier: Apache-2.0
"""Tuned units are used only on the GPU and the driver that they were tuned on."""
import functools
import hashlib
import json
import os
import re
import shutil

from machines import VLLM, Machine, contents, empty
from scene import equal, read, require, test, write

H200 = {"TKBUNDLE_GPU": "NVIDIA H200,580"}
H100 = {"TKBUNDLE_GPU": "NVIDIA H100 80GB HBM3,580"}
NEWER = {"TKBUNDLE_GPU": "NVIDIA H200,590"}
MINOR = {"TKBUNDLE_GPU": "NVIDIA H200,580.65.06"}
UNKNOWN = {"TKBUNDLE_GPU": ""}
FLASHINFER = "flashinfer_autotune_cache/0.7/90a/1f/autotune_configs_dp0_rank0.json"
PLAN = "startup_plan/startup_plan_1f.json"


def tuned(machine):
    return sorted(path for path in contents(machine.tree) if
                  path.endswith((".best_config", ".kernel_perf")) or
                  path in (FLASHINFER, PLAN))


def first_machine(scene):
    """A machine with eleven tuned units."""
    first = Machine(scene, "first", VLLM)
    write(first.path(FLASHINFER), '{"tactic": 1}')
    write(first.path(PLAN), '{"plan": 1}')
    equal(len(tuned(first)), 11)
    return first


@test("what was tuned goes to the same GPU and major version of the driver, and "
      "nowhere else; the rest goes everywhere", first_machine)
def _(scene, first):
    rest = {path: data for path, data in contents(first.tree).items()
            if path not in tuned(first)}
    first.collect("a.tkb", env=H200)
    for number, (env, fits) in enumerate((
            (H200, True), (MINOR, True), (H100, False), (NEWER, False),
            (UNKNOWN, False))):
        machine = Machine(scene, f"m{number}")

        ended = machine.document("emit", scene.path("a.tkb"), env=env)

        equal(tuned(machine), tuned(first) if fits else [], env)
        equal(ended["skipped"], 0 if fits else 11, env)
        require(all(path in rest for path in contents(machine.tree)
                    if path not in tuned(first)))
        equal(ended["emitted"], 37 if fits else 26, env)


@test("a bundle tells on what its units were tuned; where the GPU is not known, "
      "they are left where they are", first_machine)
def _(scene, first):
    first.collect("a.tkb", env=H200)
    _, said = first.collect("b.tkb", env=UNKNOWN)

    def platforms(bundle):
        listed = json.loads(scene.tkbundle("ls", "--json", bundle).out)
        return [each["platform"] for each in listed["entries"]
                if each["kind"] == "unit" and each["platform"] != ""]
    equal(platforms("a.tkb"), ["gpu NVIDIA H200, driver 580"] * 11)
    equal(platforms("b.tkb"), [])
    equal((said["collected"], said["left_out"]), (26, []))
    scene.tkbundle("verify", "a.tkb")
    key = next(line.split()[0] for line in
               scene.tkbundle("ls", "a.tkb").out.splitlines() if PLAN in line)
    shown = scene.tkbundle("show", "a.tkb", key).out
    require("\nplatform  gpu NVIDIA H200, driver 580\n" in shown, shown)


@test("two GPUs tune into one ref, and each gets back its own, also when the "
      "ref is one bundle", first_machine, empty)
def _(scene, first, second):
    shutil.copytree(first.home, second.home, dirs_exist_ok=True)
    write(second.path(PLAN), '{"plan": 2}')

    equal(first.push(env=H200)["pushed"], 37)
    equal(second.push(env=H100)["pushed"], 11)
    equal(second.push(env=H100)["pushed"], 0)
    equal(first.pull(env=H200)["emitted"], 1)  # a nested kernel
    equal(second.pull(env=H100)["emitted"], 1)
    scene.tkbundle("pull", "--remote", scene.remote, "-o", "a.tkb", "a/b")
    scene.tkbundle("verify", "a.tkb")

    for number, (env, owner) in enumerate(((H200, first), (H100, second))):
        for take in (lambda machine: machine.pull(env=env),
                     lambda machine: machine.document(
                         "emit", scene.path("a.tkb"), env=env)):
            machine = Machine(scene, f"m{number}{take.__code__.co_firstlineno}")
            equal(take(machine)["emitted"], 37)
            equal(tuned(machine), tuned(first))
            equal(read(machine.path(PLAN)), read(owner.path(PLAN)))
            equal(take(machine)["emitted"], 0)
    machine = Machine(scene, "unknown")
    equal(machine.pull(env=UNKNOWN)["emitted"], 26)
    equal(tuned(machine), [])


@test("what is tuned again is pushed again, and a ref gives its newest version", first_machine)
def _(scene, first):
    equal(first.push(env=H200)["pushed"], 37)
    second = Machine(scene, "second")
    second.pull(env=H200)
    write(first.path(PLAN), '{"plan": 2}')

    equal(first.push(env=H200)["pushed"], 1)
    equal(first.push(env=H200)["pushed"], 0)
    # What it has is older, though its file is newer.
    os.utime(second.path(PLAN))
    equal(second.push(env=H200)["pushed"], 0)
    equal(second.pull(env=H200)["emitted"], 0)
    third = Machine(scene, "third")
    equal(third.pull(env=H200)["emitted"], 37)
    equal(read(third.path(PLAN)), b'{"plan": 2}')
    equal(third.pull(env=H200)["emitted"], 0)
    # A file that is not of now is no news.
    old = Machine(scene, "old")
    old.pull(env=H200)
    write(old.path(PLAN), '{"plan": 0}')
    os.utime(old.path(PLAN), (1e9, 1e9))
    equal(old.push(env=H200)["pushed"], 0)

    def listed():
        ended = scene.tkbundle("refs", "--remote", scene.remote, "--json")
        return json.loads(ended.out)["refs"][0]
    equal((listed()["records"], listed()["entries"]), (2, 37))


@test("a file with a time to come hides nothing that is written later", first_machine)
def _(scene, first):
    os.utime(first.path(PLAN), (2**33, 2**33))
    equal(first.push(env=H200)["pushed"], 37)
    write(first.path(PLAN), '{"plan": 2}')
    equal(first.push(env=H200)["pushed"], 1)
    machine = Machine(scene, "second")
    machine.pull(env=H200)
    equal(read(machine.path(PLAN)), b'{"plan": 2}')


@test("the newest version counts where bundles of a ref become one", first_machine)
def _(scene, first):
    pulled = ("pull", "--remote", scene.remote, "-o", "a.tkb", "a/b")
    for number in range(2, 40):
        first.push(env=H200)
        write(first.path(PLAN), f'{{"plan": {number}}}')
    first.push(env=H200)
    require(json.loads(scene.tkbundle(
        "refs", "--remote", scene.remote, "--json").out)["refs"][0]["records"]
        < 32)
    scene.tkbundle(*pulled)
    for name in ("by pull", "by emit"):
        machine = Machine(scene, name)
        if name == "by pull":
            equal(machine.pull(env=H200)["emitted"], 37)
        else:
            machine.document("emit", scene.path("a.tkb"), env=H200)
        equal(read(machine.path(PLAN)), b'{"plan": 39}')


VERSION = re.compile(rb',\["[0-9a-f]{64}",\d+\]')


def edit_record(scene, edit):
    """Replace the ref's only record."""
    folder = scene.path("remote", "ref", "a,b")
    (name,) = os.listdir(folder)
    text = edit(read(os.path.join(folder, name)))
    os.remove(os.path.join(folder, name))
    write(os.path.join(folder, hashlib.sha256(text).hexdigest()), text)


@test("a record that tells no versions is read, and is older than any that does", first_machine)
def _(scene, first):
    first.push(env=H200)
    edit_record(scene, lambda text: VERSION.sub(b"", text))
    equal(Machine(scene, "second").pull(env=H200)["emitted"], 37)
    # Of the other six, whose files have no time, nobody knows either.
    equal(first.push(env=H200)["pushed"], 2)
    equal(first.push(env=H200)["pushed"], 0)


@test("a record whose version makes no sense is no record, and verify says why", first_machine)
def _(scene, first):
    digest = b'"' + b"0" * 64 + b'"'
    rows = ((b',["00",1]', "a digest is not 64 digits"),
            (b',"x"', "a version is not a list"),
            (b",[" + digest + b",-1]", "a negative number"),
            (b",[" + digest + b",1,1]", "a version has too many parts"),
            (b",[" + digest + b"]", "a number is missing"))
    for number, (bad, said) in enumerate(rows):
        shutil.rmtree(scene.path("remote"), ignore_errors=True)
        first.push(env=H200)
        edit_record(scene, functools.partial(VERSION.sub, bad, count=1))
        machine = Machine(scene, f"m{number}")
        ended = machine.verb("pull", "--remote", scene.remote, "a/b", env=H200,
                             status=None)
        require(ended.status != 0, bad, ended.err)
        equal(contents(machine.home), {})
        ended = scene.tkbundle("verify", "--remote", scene.remote, status=None)
        require(ended.status != 0 and said in ended.err, bad, ended.err)


def flashinfer_files():
    """What autotune_v2() of FlashInfer 0.7.2 writes below ~/.cache/flashinfer, and
    save_configs(), which vLLM lets write into its own folder."""
    manifest = {
        "cache_schema": "v2", "cublas_version": "130200",
        "cuda_version": "13.0", "cudnn_frontend_version": "1.18.0",
        "cudnn_version": "91700", "cutlass_dsl_version": "4.4.1",
        "flashinfer_version": "0.7.2.post1", "gpu": "NVIDIA H200"}
    key = ("('fp4_gemm', 'CutlassFp4GemmRunner', ((1024, 4096), (4096, 128)), "
           "(True, torch.bfloat16))")
    fields = {"__tuple__": [
        "fp4_gemm", "CutlassFp4GemmRunner",
        {"__tuple__": [{"__tuple__": [1024, 4096]},
                       {"__tuple__": [4096, 128]}]},
        {"__tuple__": [True, {"__dtype__": "bfloat16"}]}]}
    entry = {"key": key, "runner": "CutlassFp4GemmRunner", "tactic": [3, 1],
             "profiling_policy": ["cuda_graph", True], "key_fields": fields}
    folder = "autotune/v2/" + hashlib.sha256(json.dumps(
        manifest, sort_keys=True, separators=(",", ":")).encode()
    ).hexdigest()[:16]
    name = hashlib.sha256(key.encode()).hexdigest()[:24]
    config = {"_metadata": {k: v for k, v in manifest.items()
                            if k != "cache_schema"},
              key: ["CutlassFp4GemmRunner", [3, 1], ["cuda_graph", True]]}
    config["_generation"] = hashlib.sha256(json.dumps(
        config, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    return {
        f"{folder}/manifest.json": json.dumps(manifest, indent=2),
        f"{folder}/entries/{name}.json": json.dumps(entry, indent=2,
                                                    sort_keys=True),
    }, json.dumps(config, indent=2)


def carry(scene, engine, root, files):
    """How many units there are of an engine's files, and what a machine with the GPU that
    they were tuned on gets of them, and what one with another."""
    first, second, other = (Machine(scene, engine + name, engine=engine)
                            for name in ("-first", "-second", "-other"))
    for name, data in files.items():
        write(os.path.join(first.home, root, name), data)
    count = first.collect("a.tkb", env=H200)[1]["collected"]
    for machine, env in ((second, H200), (other, H100)):
        machine.verb("emit", scene.path("a.tkb"), env=env)
    return count, *(contents(os.path.join(each.home, root)) for each in (second, other))


@test("FlashInfer's tuning is carried byte for byte, without what is half written, "
      "for its own cache and for vLLM's")
def _(scene):
    files, config = flashinfer_files()
    for engine, root, whole in (
            ("flashinfer", ".cache/flashinfer", files),
            ("sglang", ".cache/sglang/.cache/flashinfer", files),
            ("vllm", ".cache/vllm", {FLASHINFER: config})):
        half = {os.path.join(os.path.dirname(name), ".autotune_x1.tmp"): "{" for name in whole}

        _, here, elsewhere = carry(scene, engine, root, {**whole, **half})

        equal(here, {name: data.encode() for name, data in whole.items()})
        equal(elsewhere, {})


@test("TileLang's kernels are carried as its manifest has them, and what it tuned "
      "for one GPU")
def _(scene):
    space = "0.1.15/linux-x86_64"
    kernel, best = (f"{space}/{name}/{hashlib.sha256(name.encode()).hexdigest()}"
                    for name in ("kernels", "autotuner"))
    files = {"device_kernel.cu": "__global__ void main_kernel() {}\n",
             "host_kernel.cu": "int call() { return 0; }\n",
             "params.json": '{\n  "root_index": 2,\n  "nodes": [\n    {"type": '
                            '"ffi.String", "data": "float16"}\n  ],\n  '
                            '"metadata": {"tvm_version": "0.22.0"}\n}',
             "resource_usage.json": '{"registers": 128, "num_tokens": 8}'}
    tuned_files = {
        **files, "executable.so": "\x7fELF".ljust(64, "\0"), "function.pkl": "\x80\x05.",
        "best_config.json": '{"block_M": 128, "block_N": 256, "num_stages": 3, '
                            '"thread_num": 256, "enable_rasteration": true, '
                            '"token_block": 64, "split_k_key": 2}',
        "latency.json": '{"latency": 0.0131, "ref_latency": null}',
        "out_idx.json": '{"out_idx": [-1]}'}
    files["kernel_lib.so"] = "\x7fELF".ljust(64, "\0") + "library"
    manifest = {"version": 1, "files": {name: {
        "size": len(data.encode()),
        "sha256": hashlib.sha256(data.encode()).hexdigest()}
        for name, data in files.items()}}
    files["manifest.json"] = json.dumps(manifest, indent=2, sort_keys=True)
    whole = {**{f"{kernel}/{name}": data for name, data in files.items()},
             **{f"{best}/{name}": data for name, data in tuned_files.items()}}
    for engine, root in (("tilelang", ".tilelang/cache"),
                         ("sglang", ".cache/sglang/tilelang")):
        count, here, elsewhere = carry(scene, engine, root, {
            **whole, f"{space}/.staging/k_1_ab/x": "half"})

        equal(count, 2)
        equal(here, {name: data.encode() for name, data in whole.items()})
        equal(sorted(elsewhere), sorted(f"{kernel}/{name}" for name in files))
        for name, told in manifest["files"].items():
            data = here[f"{kernel}/{name}"]
            equal((len(data), hashlib.sha256(data).hexdigest()),
                  (told["size"], told["sha256"]))


# What the engines' newest versions keep: the folder; files for every GPU, with
# the number of their units; files for the one that they were tuned on; and
# files that stay.
AOT = "torch_compile_cache/torch_aot_compile/1f/inductor_cache/"
INDUCTORS_OWN = ("quack/1f.o", "flydsl_compile_cache/x", "cutedsl_compile_cache/1f.o",
                 "memoizer_cache.json", "torch_cutlass/pycute/x.py", "torch_cutlass_library/x",
                 "precompiled_headers/1f.h", "unhashed_kernel_inputs/k_run_0/tensor_0.pt",
                 "inductor_const_spill_7_8")
NEWEST = (
    ("torch", ".cache/torchinductor", 1, ("ab/cab.py",),
     ("ab/cab.best_config", "ab/cab.kernel_perf", "cache/1f"), INDUCTORS_OWN),
    ("jax", ".cache/jax", 2, ("jit_infer-1f-cache", "jit_infer-1f-atime"),
     ("xla_gpu_per_fusion_autotune_cache_dir/1f.textproto",),
     (".lockfile", "xla_gpu_kernel_cache_file",
      "xla_gpu_per_fusion_autotune_cache_dir/tmp/1f.7.textproto")),
    ("vllm", ".cache/vllm", 1, (AOT + "ab/cab.py",),
     (AOT + "ab/cab.kernel_perf", AOT + "cache/1f"),
     tuple(AOT + name for name in INDUCTORS_OWN)),
    ("flashinfer", ".cache/flashinfer", 5,
     ("0.7.2/90a/generated/k/k.cu", "0.7.2/100a/generated/trtllm_export/m/metaInfo.h",
      "0.7.2/90a/cached_ops/kda_ptx/1f.cubin",
      "0.7.2/90a/cached_ops/kda_ptx/2e.cubin",
      "0.7.2/90a/cached_ops/cake_gdn/sm_90a/1f.cubin"),
     ("0.7.2/90a/autotune/sparse_mla_sm120_cpb.json", "moe_ep_knob_cache.json"),
     (".moe_ep_knob_cache.x1", ".genphase-knobs-x1",
      "0.7.2/100a/generated/trtllm_export/m/flashinfer/trtllm/gemm/trtllmGen_gemm_export/x.h",
      "0.7.2/90a/flashinfer_jit.log", "0.7.2/90a/autotune/tmpa1b2c3_4",
      "0.7.2/90a/cached_ops/kda_ptx/tmpa1b2c3_4/kernel.cubin")),
    ("tilelang", ".tilelang/cache", 2,
     ("0.1.15/cuda-binaries/1f/kernel.cubin",
      "0.1.15/cuda-binaries/1f/metadata.json",
      "0.1.9-linux/kernels/1f/host_kernel.cu", "0.1.9-linux/kernels/1f/device_kernel.cu"),
     ("0.1.15/linux-x86_64/autotuner/1f/best_config.json",
      "0.1.9-linux/autotuner/1f/best_config.json"),
     ("sparse_compressor/0.1.9/compress_lib.so", "sparse_compressor/0.1.9/lock",
      "py-cache/main.1f.py", "0.1.15/.staging/cuda-binaries/1f.7/x", "tmp/7_1f.so")),
    ("sglang", ".cache/sglang", 3,
     ("rust_extensions/artifacts/grpc/1f/grpc.so",
      "torch_compile_cache/1f/rank_0_0/backbone/inductor_cache/fxgraph/ab/fab/2e",
      "torch_compile_cache/1f/rank_0_0/backbone/inductor_cache/fxgraph/ab/fab/3d",
      "tilelang/0.1.15/cuda-binaries/1f/kernel.cubin",
      "tilelang/0.1.15/cuda-binaries/1f/metadata.json"),
     ("flashinfer/autotune/0.7.2/90a/1f/rank_tp0_pp0_dp0.json",
      "inductor/cache/1f", ".cache/flashinfer/0.7.2/90a/autotune/pcie_ipc_all_reduce_ws4.json"),
     (*("inductor/" + name for name in INDUCTORS_OWN),
      "ple/model/table.bin", "model_streamer/1f/config.json",
      "diffusion/host_spill/1f/2e.bin", "realesrgan/1f-x4.pth", "benchmark/shared.pkl",
      "torch_compile_cache/1f/rank_0_0/backbone/computation_graph_1795.25.py",
      "torch_compile_cache/1f/rank_0_0/backbone/sglang_compile_cache.py",
      "rust_extensions/targets/1f/x", "rust_extensions/locks/x.lock",
      ".cache/flashinfer/0.7.2/90a/autotune/tmpa1b2c3_4",
      "tilelang/sparse_compressor/0.1.11/compress_lib.so",
      "tilelang/tmp/7_1f.so", "tilelang/py-cache/main.1f.py")))


@test("what the newest versions keep is carried, to its own GPU where it was tuned; "
      "weights, dumps and what is built on the way stay")
def _(scene):
    for engine, root, units, anywhere, tuned_here, stays in NEWEST:
        count, here, elsewhere = carry(scene, engine, root, {
            name: b"\x7fELF" + bytes(60) if name.endswith(".cubin") else name
            for name in anywhere + tuned_here + stays})
        equal(count, units + len(tuned_here), engine)
        equal(sorted(here), sorted(anywhere + tuned_here), engine)
        equal(sorted(elsewhere), sorted(anywhere), engine)


@test("timings of Triton's autotuner are for one GPU, too; those of nobody knows "
      "which are for all")
def _(scene):
    folder = os.path.join(scene.path("from"), "A" * 52)
    write(os.path.join(folder, "k.autotune.json"), "{}")
    for env, others in ((H200, 0), (UNKNOWN, 1)):
        ended = scene.tkbundle("collect", "from", "-o", "a.tkb", env=env)
        for there, count in ((H200, 1), (H100, others), (UNKNOWN, others)):
            shutil.rmtree(scene.path("to"), ignore_errors=True)
            ended = scene.tkbundle("emit", "--json", "a.tkb", "to", env=there)
            said = json.loads(ended.out)
            equal((said["emitted"], said["skipped"]), (count, 1 - count),
                  env, there)


@test("an archive does not tell on what it was tuned: who imports it may", first_machine)
def _(scene, first):
    shutil.make_archive(scene.path("a"), "gztar", first.home)
    names = {name: value for name, value in scene.environment.items()
             if name != "TKBUNDLE_GPU"}
    scene.environment = names
    for env, count in (({}, 26), (H200, 37)):
        ended = scene.tkbundle("import", "a.tar.gz", "--json", "-o", "a.tkb", env=env)
        equal(json.loads(ended.out)["collected"], count)


@test("a TKBUNDLE_GPU that makes no sense is refused in one sentence", first_machine)
def _(scene, first):
    first.collect("a.tkb", env=H200)
    first.push(env=H200)
    for verb, words in (("collect", ("-o", "b.tkb")), ("emit", ("a.tkb",)),
                        ("pull", ("--remote", scene.remote, "a/b"))):
        ended = first.verb(verb, *words, env={"TKBUNDLE_GPU": "H200"},
                           status=None)
        equal(ended.status, 2, ended.err)
        equal(len(ended.err.splitlines()), 1, ended.err)
        require("TKBUNDLE_GPU is 'H200', and not a GPU's name and a driver"
                in ended.err, ended.err)
