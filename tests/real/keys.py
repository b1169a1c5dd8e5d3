#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `tkbundle compile` to what real programs' launches compile, for four types of GPU.

    keys.py [--limit N] [--gpu] TKBUNDLE PYTHON PACKAGES [TUTORIAL...]

PYTHON has PyTorch 2.11 and Triton 3.6, the folder PACKAGES liger-kernel and packaging, and
for the tutorials pytest and tabulate, all by `pip install --target`. The functions of
Liger-Kernel are called, forward and backward; or, where files of Triton's tutorials are
named, these are run. What they launch is compiled by Triton alone, for a GPU of each type
(pretend.py). What is recorded of the launches for sm_90, a bundle, `tkbundle compile` makes
anew for all types: of that keys and bytes must be the same. What is launched on another
type alone no record of sm_90 tells: that is compiled of a record of that type, and named.

With --gpu the launches are real, on the GPU that is here, and its type is the only one.
`tkbundle compile` sees no GPU then. Of autotuned kernels N configurations are launched (4).
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
ARCHES = ("90", "80", "100", "120")
NAMED = 12  # of a kind, at most


def is_kernel(folder):
    return os.path.isdir(folder) and any(name.endswith(".cubin") for name in os.listdir(folder))


def entries(root):
    """Of each key the files, less those that name their folder."""
    found = {}
    for key in os.listdir(root) if os.path.isdir(root) else ():
        folder = os.path.join(root, key)
        if key.startswith(".") or not is_kernel(folder):
            continue
        found[key] = {}
        for name in os.listdir(folder):
            if not name.startswith("__grp__"):
                with open(os.path.join(folder, name), "rb") as file:
                    found[key][name] = file.read()
    return found


def metadata(files):
    name = next(name for name in files if name.endswith(".json"))
    return name[:-len(".json")], json.loads(files[name])


def arch_of(files):
    return str(metadata(files)[1]["target"]["arch"])


class Scene:
    def __init__(self, given, folder):
        self.given, self.folder = given, folder
        self.python = os.path.abspath(given.python)
        self.modules = os.path.join(folder, "modules")
        os.mkdir(self.modules)

    def place(self, name):
        return os.path.join(self.folder, name)

    def environment(self, cache, **more):
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("TRITON_", "TORCHINDUCTOR_", "TKBUNDLE", "PYTHON"))}
        paths = [os.path.abspath(self.given.packages), self.modules]
        return dict(env, HOME=self.folder, PYTHONPATH=os.pathsep.join(paths),
                    TRITON_CACHE_DIR=cache, PYTHONDONTWRITEBYTECODE="1", **more)

    def launch(self, arch):
        """What the programs' launches make, and what is noted of them."""
        notes = self.place("notes" + arch)
        os.mkdir(notes)
        words = [self.python, os.path.join(HERE, "launch.py"), "gpu" if self.given.gpu else arch,
                 notes, self.modules, str(self.given.limit),
                 *map(os.path.abspath, self.given.tutorials)]
        with open(self.place(f"launch{arch}.log"), "w+", encoding="utf-8") as log:
            ended = subprocess.run(words, env=self.environment(self.place("cache" + arch)),
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=log,
                                   check=False)
            if ended.returncode != 0:
                log.seek(0)
                sys.exit(log.read()[-3000:] + f"launch.py: exit status {ended.returncode}")
        told = json.loads(ended.stdout.splitlines()[-1])
        print(f"sm_{arch}: {len(told['kernels'])} kernels launched, {told['noted']} entries, "
              f"{told['written']} recorded", flush=True)
        for failure in told["failed"][:NAMED]:
            print(f"    not launched: {failure}", flush=True)
        return entries(self.place("cache" + arch))

    def compile(self, source, arches, cache):
        words = [self.given.tkbundle, "compile", source, "--cache", cache, "--python",
                 self.python, "--keep-going", "--json", "--target",
                 ",".join("cuda:" + arch for arch in arches)]
        ended = subprocess.run(
            words, env=self.environment(cache, CUDA_VISIBLE_DEVICES=""), cwd=self.folder,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        told = json.loads(ended.stdout)
        print(f"    compiled {told['compiled']}, hits {told['hits']}, failed {told['failed']}",
              flush=True)
        messages = sorted({kernel["message"] for kernel in told["kernels"] if kernel["message"]})
        for message in messages[:NAMED]:
            print(f"    {message[:300]}", flush=True)
        return entries(cache)

    def bundle(self, arch):
        path = self.place("recorded.tkb")
        subprocess.run([self.given.tkbundle, "collect", self.place("cache" + arch), "-o", path,
                        "--tree", "specialisations=" + self.place("notes" + arch)],
                       stdout=subprocess.DEVNULL, check=True)
        return path


def other_bytes(theirs, ours, keys):
    """Of each key whose files are not the same, the names of those that differ."""
    named = {key: sorted(name for name in theirs[key]
                         if ours[key].get(name) != theirs[key][name]) for key in sorted(keys)}
    return {key: names for key, names in named.items() if names}


def same_bytes(theirs, ours, keys):
    """The number of keys whose files are the same; those that differ are named."""
    others = other_bytes(theirs, ours, keys)
    for key, names in others.items():
        print(f"    {key}: other bytes in {', '.join(names)}", flush=True)
    return len(keys) - len(others)


def compile_rest(scene, arch, theirs, missing):
    """Of a record of this type."""
    rest = scene.place("rest" + arch)
    os.mkdir(rest)
    for key in missing:
        note = os.path.join(scene.place("notes" + arch), key + ".json")
        if os.path.exists(note):
            shutil.copy(note, rest)
    if not os.listdir(rest):
        return 0, missing
    made = scene.compile(rest, [arch], scene.place("made-rest" + arch))
    found = missing & made.keys()
    return same_bytes(theirs, made, found), missing - found


def compare(scene, arch, theirs, made):
    """A row of the table; the last item is whether all of it is as it is to be."""
    ours = {key: files for key, files in made.items() if arch_of(files) == arch}
    common = theirs.keys() & ours.keys()
    print(f"sm_{arch}:", flush=True)
    same = same_bytes(theirs, ours, common)
    missing, by_type = theirs.keys() - common, 0
    if missing:
        by_type, unknown = compile_rest(scene, arch, theirs, missing)
        names = sorted(metadata(theirs[key])[1]["name"] for key in missing - unknown)
        print(f"    launched on this type alone: {', '.join(names)}", flush=True)
        for key in sorted(unknown):
            print(f"    not made: {metadata(theirs[key])[0]} ({key})", flush=True)
    is_good = bool(theirs) and same + by_type == len(theirs)
    kernels = {metadata(files)[1]["name"] for files in theirs.values()}
    return [f"sm_{arch}", len(kernels), len(theirs), same, by_type,
            len(theirs) - same - by_type, len(ours.keys() - common)], is_good


def prove(scene):
    arches = ("90",) if scene.given.gpu else ARCHES
    theirs = {arch: scene.launch(arch) for arch in arches}
    made = scene.compile(scene.bundle("90"), arches, scene.place("made"))
    rows = [compare(scene, arch, theirs[arch], made) for arch in arches]
    print("\n| GPU | kernels | entries | of the record of sm_90: same key, same bytes | of a "
          "record of the type alone | not made, or with other bytes | made, not launched |")
    print("|---|---|---|---|---|---|---|")
    for row, _ in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    return all(is_good for _, is_good in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--limit", type=int, default=4)
    parser.add_argument("--gpu", action="store_true")
    for name in ("tkbundle", "python", "packages"):
        parser.add_argument(name)
    parser.add_argument("tutorials", nargs="*")
    given = parser.parse_args()
    given.tkbundle = os.path.abspath(given.tkbundle)
    with tempfile.TemporaryDirectory(prefix="tkbundle-keys.") as folder:
        return 0 if prove(Scene(given, os.path.realpath(folder))) else 1


if __name__ == "__main__":
    sys.exit(main())
