# SPDX-License-Identifier: Apache-2.0
"""Writes the wheel and the tar: the same files give the same bytes."""

import base64
import gzip
import hashlib
import io
import subprocess
import tarfile
import time
import zipfile
from unittest import mock

from place import HERE, TREE, environment, epoch, version

TAGS = {"x86_64": ("manylinux_2_17_x86_64", "manylinux2014_x86_64"),
        "aarch64": ("manylinux_2_17_aarch64", "manylinux2014_aarch64")}
# The licences of what is inside: tkbundle and OpenSSL; hiredis and zstd; expat, jansson
# and Zig's runtime; curl.
LICENSE = "Apache-2.0 AND BSD-3-Clause AND MIT AND curl"
# What PyTorch calls when it is imported; python/tkbundle/_autoload.py.
ENTRY_POINTS = b"[torch.backends]\ntkbundle = tkbundle._autoload:start\n"
PACK = """
import sys, zopfli.zlib
sys.stdout.buffer.write(zopfli.zlib.compress(sys.stdin.buffer.read(), numiterations=3))
"""


def data_files():
    """{path below a prefix: bytes} of what the program reads as it runs."""
    out = {}
    for path in sorted((TREE / "tools" / "tkbundle-compile").glob("*.py")):
        out[f"libexec/tkbundle/{path.name}"] = path.read_bytes()
    for path in sorted((TREE / "share" / "engines").glob("*.json")):
        out[f"share/tkbundle/engines/{path.name}"] = path.read_bytes()
    return out


def metadata(licenses):
    lines = ["Metadata-Version: 2.4", "Name: tkbundle", f"Version: {version()}",
             "Summary: GPU kernels and engines' caches, compiled once and "
             "shared", f"License-Expression: {LICENSE}",
             *(f"License-File: {name}" for name in sorted(licenses)),
             "Keywords: triton,inductor,pytorch,cuda,kernel,cache",
             "Classifier: Intended Audience :: Developers",
             "Classifier: Operating System :: POSIX :: Linux",
             "Classifier: Programming Language :: C",
             "Classifier: Programming Language :: Python :: 3",
             "Classifier: Topic :: Software Development :: Build Tools",
             "Classifier: Typing :: Typed",
             "Requires-Python: >=3.9",
             "Description-Content-Type: text/markdown"]
    text = "\n".join(lines) + "\n\n"
    return text.encode() + (TREE / "docs" / "python.md").read_bytes()


def record_line(path, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return f"{path},sha256={digest.decode().rstrip('=')},{len(data)}\n"


class Packer:
    """Zopfli with the interface of a zlib compressor, for zipfile: 3 % smaller."""

    def __init__(self, *_choice):
        self.parts = []

    def compress(self, data):
        self.parts.append(bytes(data))
        return b""

    def flush(self):
        place = environment("zopfli", "zopfli", HERE / "zopfli.txt",
                            "--no-deps", "--require-hashes")
        done = subprocess.run(
            [place / "bin" / "python", "-c", PACK], check=True,
            input=b"".join(self.parts), stdout=subprocess.PIPE)
        return done.stdout[2:-4]  # without zlib's head and its checksum


def write_wheel(folder, architecture, binaries, licenses, sbom):
    """`binaries` is {name: bytes} of the libraries and the program."""
    tags = TAGS[architecture]
    name = f"tkbundle-{version()}"
    info = f"{name}.dist-info"
    files = {f"tkbundle/{path.name}": path.read_bytes()
             for path in (TREE / "python" / "tkbundle").iterdir()
             if path.suffix == ".py" or path.name == "py.typed"}
    for file, data in binaries.items():
        place = ("tkbundle/_lib" if ".so" in file else f"{name}.data/scripts")
        files[f"{place}/{file}"] = data
    for path, data in data_files().items():
        files[f"{name}.data/data/{path}"] = data
    for file, data in licenses.items():
        files[f"{info}/licenses/{file}"] = data
    files[f"{info}/sboms/tkbundle.cdx.json"] = sbom
    files[f"{info}/entry_points.txt"] = ENTRY_POINTS
    files[f"{info}/METADATA"] = metadata(licenses)
    files[f"{info}/WHEEL"] = "".join([
        "Wheel-Version: 1.0\n", "Generator: tkbundle\n",
        "Root-Is-Purelib: false\n",
        *(f"Tag: py3-none-{tag}\n" for tag in tags)]).encode()
    record = "".join(record_line(path, files[path]) for path in sorted(files))
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    out = folder / f"{name}-py3-none-{'.'.join(tags)}.whl"
    with mock.patch.object(zipfile, "_get_compressor", Packer), \
            zipfile.ZipFile(out, "w") as wheel:
        # The metadata comes last.
        for path in sorted(files, key=lambda one: (".dist-info/" in one, one)):
            entry = zipfile.ZipInfo(path, time.gmtime(epoch())[:6])
            entry.create_system = 3
            is_program = path.endswith("/scripts/tkbundle") or ".so" in path
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, files[path])
    return out


def write_tar(folder, architecture, program, licenses, sbom):
    """A tree that fits below /usr/local, or anywhere."""
    name = f"tkbundle-{version()}-linux-{architecture}"
    files = {"bin/tkbundle": program, **data_files(),
             "share/doc/tkbundle/tkbundle.cdx.json": sbom}
    for file, data in licenses.items():
        files[f"share/doc/tkbundle/licenses/{file}"] = data
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path in sorted(files):
            entry = tarfile.TarInfo(path)
            entry.size = len(files[path])
            entry.mtime = epoch()
            entry.mode = 0o755 if path == "bin/tkbundle" else 0o644
            tar.addfile(entry, io.BytesIO(files[path]))
    out = folder / f"{name}.tar.gz"
    out.write_bytes(gzip.compress(raw.getvalue(), 9, mtime=0))
    return out
