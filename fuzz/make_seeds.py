#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the seeds of the fuzz targets, corpus/<target>/seed-*.

    make_seeds.py TKBUNDLE SAVE

TKBUNDLE is the program and SAVE that of tests/program/save.c; real files come
from ../fixtures, the rest is made here. The same programs give the same seeds.
"""

import base64
import hashlib
import io
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FIXTURES = HERE.parent / "fixtures"
HASH = "e8d34b5e7ad06b1c3f5d73c38a09bf893b21c700a74a8fca828d56ee85d32e6e"
KEY = base64.b32encode(bytes.fromhex(HASH)).decode().rstrip("=")
KEY64 = base64.urlsafe_b64encode(bytes.fromhex(HASH)).decode().rstrip("=")
FIRST_LINE = "frames 1 zstd 1.5.4 3\n"
SENTINEL = "[REPLACE]"


def write(target, name, data):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    data = data.encode() if isinstance(data, str) else data
    (folder / f"seed-{name}").write_bytes(data)


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"),
                      ensure_ascii=False)


# Small ELF files: what the checks look at, and nothing else.

def elf(machine, sections, *, kind=2, flags=0, abi=0, segments=(),
        table_first=False):
    """`sections`: (type, link, bytes) each, behind a null section."""
    body = b"".join(data for _, _, data in sections)
    start = 64 + 56 * len(segments)
    table = start + len(body)
    if table_first:
        table, start = start, start + 64 * (len(sections) + 1)
    ident = b"\x7fELF\x02\x01\x01" + bytes([0x33, abi]) + bytes(7)
    out = ident + struct.pack("<HHIQQQIHHHHHH", kind, machine, 1, 0,
                              64 if segments else 0, table, flags, 64, 56,
                              len(segments), 64, len(sections) + 1, 0)
    for offset, size in segments:
        out += struct.pack("<IIQQQQQQ", 1, 5, offset, 0, 0, size, size, 1)
    described = bytes(64)
    for section_type, link, data in sections:
        described += struct.pack("<IIQQQQIIQQ", 0, section_type, 0, 0, start,
                                 len(data), link, 0, 1, 0)
        start += len(data)
    return out + (described + body if table_first else body + described)


def cubin(*, arch=90, abi=7, symbol="add_kernel", end=b"\0",
          table_first=False):
    flags = arch if abi == 7 else arch << 8
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0x12, 0, 1, 0, 0)
    return elf(190, [(2, 2, symbols),
                     (3, 0, b"\0" + symbol.encode() + end)], flags=flags,
               abi=abi, segments=[(64, 16)], table_first=table_first)


def patched(data, offset, number):
    return data[:offset] + struct.pack("<Q", number) + data[offset + 8:]


def module(*, machine=62, libc=b"libc.so.6", versions=(b"GLIBC_2.2.5",
                                                       b"GLIBC_2.34")):
    strings = b"\0" + libc + b"\0"
    auxes = b""
    for i, version in enumerate(versions):
        following = 16 if i + 1 < len(versions) else 0
        auxes += struct.pack("<IHHII", 0, 0, 2 + i, len(strings), following)
        strings += version + b"\0"
    needs = struct.pack("<HHIII", 1, len(versions), 1, 16, 0) + auxes
    dynamic = struct.pack("<qQqQ", 1, 1, 0, 0)
    return elf(machine, [(3, 0, strings), (6, 1, dynamic),
                         (0x6ffffffe, 1, needs)], kind=3)


# Entries, as a manifest has them, with the contents of their files.

def by_extension(name):
    return (name.rpartition(".")[2].encode() if "." in name else b"",
            name.encode())


def entry(kind, key, name, files, *, devices=(0,), platform="",
          target=("", "", 0), version="3.6.0"):
    names = sorted(files, key=by_extension)
    listed = []
    for file_name in names:
        data = files[file_name]
        item = [file_name, len(data), hashlib.sha256(data).hexdigest()]
        count = data.count(b'"' + SENTINEL.encode())
        listed.append(item + [count] if count else item)
    described = {"devices": list(devices), "files": listed, "key": key,
                 "kind": kind, "name": name, "platform": platform,
                 "producer": ["triton", version], "target": list(target)}
    return described, [files[file_name] for file_name in names]


def metadata(**more):
    return json.dumps({"hash": HASH, "target": {"backend": "cuda", "arch": 90,
                       "warp_size": 32}, "triton_version": "3.6.0",
                       "name": "add_kernel", **more}).encode()


def group(names, prefix, **more):
    paths = {name: f"{prefix}/{name}" for name in names}
    return json.dumps({"child_paths": paths, **more}).encode()


def kernel(*, key=KEY, more=None, group_more=None, **options):
    files = {"add_kernel.json": metadata(), "add_kernel.cubin": cubin(),
             **(more or {})}
    files["__grp__add_kernel.json"] = group(files, SENTINEL,
                                            **(group_more or {}))
    return entry("kernel", key, "add_kernel", files,
                 target=("cuda", "90", 32), **options)


def autotune():
    data = json.dumps({"key": [1024], "configs_timings": [
        [{"kwargs": {"BLOCK": 512}, "num_warps": 4}, [0.01, 0.02, 0.03]]]})
    return entry("autotune", hashlib.sha256(b"autotune").hexdigest(),
                 "gelu_kernel", {"gelu_kernel.autotune.json": data.encode()})


def a_module(**options):
    name = "cuda_utils.cpython-312-x86_64-linux-gnu.so"
    return entry("module", hashlib.sha256(b"module").hexdigest(),
                 "cuda_utils", {name: module()},
                 platform="x86_64-glibc2.34-cpython312", **options)


# Saved launchers, as a manifest has them, with their payloads.

def launcher(key, payload, *, name="add_kernel", need="any", needs=(KEY,)):
    digest = hashlib.sha256(payload).hexdigest()
    return {"key": key, "name": name, "need": need, "needs": list(needs),
            "payload": [digest, len(payload)]}, payload


def payloads_of(launchers):
    """Each once, by digest, as items are counted."""
    return [payload for _, payload in sorted(
        {described["payload"][0]: payload
         for described, payload in launchers}.items())]


def manifest(entries, profile="full", launchers=(), **more):
    return canonical({"entries": [described for described, _ in entries],
                      "format": "tkbundle",
                      "launchers": [described for described, _ in launchers],
                      "profile": profile, "requires": [], "trees": [],
                      "version": 1, **more})


def frames_input(entries, ranges, *, flags=0, contents=None, launchers=(),
                 **more):
    if contents is None:
        contents = b"\n==\n".join([data for _, files in entries
                                   for data in files] +
                                  payloads_of(launchers))
    lines = FIRST_LINE + "".join(f"# ~ @ {item}\n" for item in ranges)
    head = (chr(0x40 | flags) +
            manifest(entries, launchers=launchers, **more) + "\n" + lines +
            "\n")
    return head.encode() + contents


def zstd(data, size):
    """One frame of one raw block, said to be of `size` bytes."""
    return struct.pack("<IBI", 0xfd2fb528, 0xa0, size) + struct.pack(
        "<I", len(data) << 3 | 1)[:3] + data


def members_of(entries):
    members = [(f"triton/{described['key']}/{item[0]}", data)
               for described, files in entries
               for item, data in zip(described["files"], files)]
    members.sort(key=lambda member: by_extension(
        member[0].rpartition("/")[2]))
    return members


def tar_of(entries, layout=None):
    return tar_with(members_of(entries), layout)


def header(name, size, kind=b"0"):
    """Of a member whose name is not too long, as src/format/tar.c has it."""
    out = (name.encode().ljust(100, b"\0") + b"000644 \0" + 2 * b"000000 \0" +
           b"%011o " % size + b"00000000000 " + 8 * b" " + kind + bytes(100) +
           b"ustar\0" + b"00" + bytes(64) + 2 * b"000000 \0" + bytes(167))
    return out[:148] + b"%06o\0 " % sum(out) + out[156:]


def tar_with(members, layout=None, last=tarfile.REGTYPE):
    """The last member is of type `last`."""
    if layout is not None:
        return foreign_tar(members, layout)
    out = b""
    for i, (path, data) in enumerate(members):
        kind = last if i + 1 == len(members) else b"0"
        out += header(path, len(data), kind) + data + bytes(-len(data) % 512)
    return out


def foreign_tar(members, layout):
    """As another tar writes it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=layout) as tar:
        for path, data in members:
            info = tarfile.TarInfo(path)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
        end = tar.offset
    return out.getvalue()[:end]


def write_frames():
    one = [kernel()]
    mixed = [autotune(), kernel(), a_module()]
    twins = [kernel(devices=(0, 2)), kernel(devices=(1,))]
    long_name = "x" * 120 + ".txt"
    write("frames", "kernel", frames_input(one, ["0"]))
    write("frames", "mixed", frames_input(mixed, ["0-2"]))
    write("frames", "three-frames", frames_input(mixed, ["0", "1", "2"]))
    write("frames", "odd-ranges", frames_input(mixed, ["0,2", "1"]))
    write("frames", "devices", frames_input(twins, ["0-1"]))
    write("frames", "lean", frames_input(one, ["0"], profile="lean"))
    write("frames", "none", frames_input([], []))
    write("frames", "escaped", frames_input(
        [kernel(more={"\u00e9 \".json": b'["\\u005bREPLACE]/x", "a"]',
                      "empty.txt": b""})], ["0"]))
    files = {"add_kernel.json": metadata(), "add_kernel.cubin": cubin()}
    files["__grp__add_kernel.json"] = group(files, f"/etc/{KEY}")
    write("frames", "foreign-group", frames_input(
        [entry("kernel", KEY, "add_kernel", files,
               target=("cuda", "90", 32))], ["0"]))
    files["__grp__add_kernel.json"] = group(["add_kernel.cubin"], SENTINEL)
    write("frames", "lists-less", frames_input(
        [entry("kernel", KEY, "add_kernel", files,
               target=("cuda", "90", 32))], ["0"]))
    files["__grp__add_kernel.json"] = group(
        ["add_kernel.cubin", "__grp__add_kernel.json"], SENTINEL)
    write("frames", "lists-itself", frames_input(
        [entry("kernel", KEY, "add_kernel", files,
               target=("cuda", "90", 32))], ["0"]))
    files["__grp__add_kernel.json"] = json.dumps(
        {"child_paths": ["add_kernel.json", "add_kernel.cubin"]}).encode()
    write("frames", "list-group", frames_input(
        [entry("kernel", hashlib.md5(b"").hexdigest(), "add_kernel",
               {**files, "add_kernel.json": metadata(hash=hashlib.md5(
                   b"").hexdigest())}, target=("cuda", "90", 32))], ["0"]))
    write("frames", "signed", frames_input(one, ["0"], flags=4))
    write("frames", "odd-end", frames_input(one, ["0"], flags=8))
    write("frames", "behind", frames_input(one, ["0"], flags=16))
    write("frames", "verbatim", frames_input(one, ["0"], flags=2))
    write("frames", "unknown", frames_input(one, ["0"], flags=2, later=[{}]))
    write("frames", "newer", frames_input([], [], flags=2, version=2))
    wide = [kernel(more={long_name: b"text"})]
    for name, entries, layout in [("own", one, None),
                                  ("ustar", one, tarfile.USTAR_FORMAT),
                                  ("gnu", wide, tarfile.GNU_FORMAT),
                                  ("pax", wide, tarfile.PAX_FORMAT)]:
        write("frames", f"tar-{name}", frames_input(
            entries, ["0"], flags=1, contents=tar_of(entries, layout)))
    write("frames", "twice", frames_input(mixed, ["0-2", "1"]))
    write("frames", "twice-and-none", frames_input(mixed, ["0-1", "1"]))
    write("frames", "beyond", frames_input(one, ["0-9"]))
    write("frames", "left-out", frames_input(mixed, ["0", "2"]))
    write("frames", "wrong-digest", frames_input(one, ["0"]).replace(
        b"\n#", b"\n" + 64 * b"0"))
    described, files = kernel()
    write("frames", "wrong-bytes", frames_input(
        [(described, [*files[:2], files[2].replace(b"3.6.0", b"3.6.1")])],
        ["0"], flags=2))
    described["files"][2][1] -= 1
    write("frames", "wrong-size", frames_input(
        [(described, files)], ["0"], flags=2))
    write("frames", "climbing", frames_input(
        [kernel(more={"../../../../../../tmp/x": b"x"})], ["0"]))
    empty = [kernel(more={"empty.zzz": b""})]
    members = members_of(empty)
    for name, path in [("climbing", "triton/../../../tmp/x"),
                       ("absolute", "/tmp/x"), ("again", members[0][0])]:
        write("frames", f"tar-{name}", frames_input(
            empty, ["0"], flags=1,
            contents=tar_with([*members[:-1], (path, b"")])))
    for name, kind in [("link", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE),
                       ("fifo", tarfile.FIFOTYPE), ("dir", tarfile.DIRTYPE),
                       ("device", tarfile.CHRTYPE)]:
        write("frames", f"tar-{name}", frames_input(
            empty, ["0"], flags=1, contents=tar_with(members, last=kind)))
    write("frames", "tar-cut", frames_input(
        one, ["0"], flags=1,
        contents=tar_of(one)[:-400]))
    write("frames", "tar-lacking", frames_input(
        empty, ["0"], flags=1, contents=tar_of(empty)[:-512]))
    write("frames", "not-packed", frames_input(one, ["0"]).replace(
        b"\n#", b"\n!#"))
    tar = tar_of(one)
    line = b"\n!# ~ %d" % len(tar)
    for name, data in [("good", tar), ("cut", tar[:-1])]:
        write("frames", f"zstd-{name}", frames_input(
            one, ["0"], flags=2, contents=zstd(data, len(tar))).replace(
                b"\n# ~ @", line))
    def slices(*sizes):
        ends = [sum(sizes[:i + 1]) for i in range(len(sizes))]
        return b"".join(zstd(tar[end - size:end], size)
                        for end, size in zip(ends, sizes))
    half = len(tar) // 2
    for name, kind, data in [
            ("two", 2, slices(half, len(tar) - half)),
            ("one", 2, slices(len(tar))),
            ("empty", 2, slices(half, 0, len(tar) - half)),
            ("short", 2, slices(half)),
            ("many", 2, slices(*[1] * 64, len(tar) - 64)),
            ("old", 1, slices(half, len(tar) - half))]:
        write("frames", f"slices-{name}", frames_input(
            one, ["0"], flags=2, contents=data).replace(
                b"\n# ~ @", line).replace(b"frames 1", b"frames %d" % kind))
    for name, members in [("unsigned", []),
                          ("signed", [("tkbundle.sig", b"ed25519")]),
                          ("other", [("tkbundle.txt", b"")]),
                          ("large", [("tkbundle.sig", bytes(16385))])]:
        write("frames", f"header-{name}", frames_input(
            [], [], flags=32, contents=tar_with(
                [("tkbundle.json", manifest([]).encode()),
                 ("tkbundle.frames", FIRST_LINE.encode()), *members])))
    write("frames", "tar-mixed", frames_input(
        mixed, ["0-1", "2"], flags=1,
        contents=tar_of(mixed[:2])))


def write_launcher_frames():
    one = [kernel()]
    mixed = [autotune(), kernel(), a_module()]
    two = [launcher("fx-1", b"a payload"),
           launcher("fx-2", b"another", need="all", needs=[KEY, KEY64])]
    shared = [*two, launcher("fx-3", b"a payload", name="mul_kernel")]
    write("frames", "launcher", frames_input(one, ["0", "1"],
                                             launchers=two[:1]))
    write("frames", "launchers", frames_input(mixed, ["0-2", "3-4"],
                                              launchers=shared))
    write("frames", "launchers-among", frames_input(
        mixed, ["0,4", "1-3"], launchers=shared))
    write("frames", "launchers-alone", frames_input(
        [], ["0", "1"], launchers=[two[0], launcher("fx-2", b"")]))
    write("frames", "launchers-less", frames_input(
        one, ["0-1"], launchers=two))
    for name, payload in [("other", b"one playad"), ("short", b"a payloa")]:
        data = frames_input(one, ["0", "1"], launchers=two[:1], flags=2)
        write("frames", f"launcher-{name}", data.replace(
            b"a payload", payload))


def write_mixed_frames():
    """Frames of which a part counts no more, as a merge leaves them."""
    mixed = [autotune(), kernel(), a_module()]
    twins = [kernel(devices=(0, 2)),
             kernel(devices=(1,), more={"add_kernel.source": b"another"})]
    saved = [launcher("fx-1", b"a payload"), launcher("fx-2", b"another")]
    for name, ranges in [
            ("all-count", ["0-2 0"]), ("unordered", ["1-2 0", "0 0"]),
            ("besides", ["0,2 3;1", "1"]), ("each", ["0 1;2", "1,2 1;0"]),
            ("thrice", ["0 8;1,1,2,2", "1,2 1;0"]),
            ("too-few", ["0,2 4;1", "1"]), ("too-many", ["0,2 2;1", "1"]),
            ("claims", ["0,2 6400000;1", "1"]),
            ("claims-more", ["0,2 6400001;1", "1"]),
            ("claims-grow", ["1-2 6400000;0", "0"]),
            ("none-said", ["0,2;1", "1"]), ("no-number", ["0,2 ;1", "1"])]:
        write("frames", f"mixed-{name}", frames_input(mixed, ranges))
    write("frames", "mixed-twins", frames_input(twins, ["0 4;1", "1 3;0"]))
    write("frames", "mixed-launchers", frames_input(
        mixed, ["0-2 1;4", "3-4 0"], launchers=saved))
    first, second = members_of(mixed[:1])[0], members_of(mixed[1:2])
    old = (first[0], b"{}")
    for name, members in [
            ("old-before", [old, first]), ("old-behind", [first, old]),
            ("again", [first, first]),
            ("old-alone", [old, second[0]]),
            ("stranger", [first, ("etc/passwd", b"x")]),
            ("climbing", [first, (f"triton/{KEY}/../../../x", b"x")]),
            ("nested", [first, (f"triton/{KEY}/a/b", b"x")]),
            ("no-key", [first, ("triton/x/y", b"x")]),
            ("payload", [first, ("launcher/x", b"x")]),
            ("other", [first, second[0]])]:
        write("frames", f"mixed-tar-{name}", frames_input(
            mixed[:1], ["0 1"], flags=1 | 2, contents=tar_with(members)))
    write("frames", "mixed-tar-link", frames_input(
        mixed[:1], ["0 1"], flags=1 | 2,
        contents=tar_with([first, second[0]], last=tarfile.SYMTYPE)))


def write_manifests():
    mixed = [autotune(), kernel(devices=(0, 1)), a_module()]
    write("manifest", "mixed", manifest(mixed))
    write("manifest", "none", manifest([]))
    write("manifest", "twins", manifest(
        [kernel(devices=(0,)), kernel(devices=(1,))]))
    write("manifest", "unknown", manifest([], later={"a": [1, {"b": None}]}))
    write("manifest", "newer", manifest([], version=2))
    write("manifest", "requires", manifest([], requires=["trees"]))
    write("manifest", "launchers-empty", manifest([], launchers=[({}, b"")]))
    write("manifest", "twice", manifest([kernel(), kernel()]))
    write("manifest", "disordered", manifest([kernel(), autotune()]))
    write("manifest", "climbing", manifest([kernel(more={"../x": b""})]))
    write("manifest", "members-twice", '{"entries":[],' + manifest([])[1:])
    item = ["x", 1, "ab" * 32]
    trees = [{"name": "a", "units": [{"files": [[*item, 1]], "folder": "u"}]},
             {"name": "b", "units": [
                 {"files": [item, ["y/z.py", 9, "ab" * 32, 10, 3]],
                  "folder": "u/v"}, {"files": [item], "folder": "."}]}]
    for name, listed in [
            ("trees", trees), ("trees-turned", trees[::-1]),
            ("trees-climbing", [{"name": "a", "units": [
                {"files": [item], "folder": "../u"}]}]),
            ("trees-inside", [{"name": "a", "units": [
                {"files": [item], "folder": "u"},
                {"files": [item], "folder": "u/v"}]}])]:
        write("manifest", name, manifest(
            mixed, requires=["trees"], trees=listed))
    saved = [launcher("fx-1", b"a payload"),
             launcher("fx-2 \u00e9\"\\", b"", need="all", needs=[KEY, KEY64])]
    one, other = saved[0][0], saved[1][0]
    write("manifest", "launchers", manifest(mixed, launchers=saved))
    for name, listed in [
            ("disordered", [other, one]), ("twice", [one, one]),
            ("unknown", [{**one, "later": [{"key": 1}]}]),
            ("no-key", [{**one, "key": ""}]),
            ("control", [{**one, "name": "a\nb"}]),
            ("need", [{**one, "need": "some"}]),
            ("needs-none", [{**one, "needs": []}]),
            ("needs-twice", [{**one, "needs": [KEY, KEY]}]),
            ("needs-no-key", [{**one, "needs": ["x"]}]),
            ("large", [{**one, "payload": [one["payload"][0], 2**26 + 1]}]),
            ("two-sizes", [one, {**other, "payload": [one["payload"][0],
                                                      1]}]),
            ("no-size", [{**one, "payload": one["payload"][:1]}])]:
        write("manifest", f"launchers-{name}", manifest(
            [], launchers=[(item, b"") for item in listed]))
    described, files = kernel(more={"\u00e9\u20ac\U0001f600\".txt": b""})
    write("manifest", "names", manifest([(described, files)], "lean"))


def write_elfs(real):
    write("elf", "cubin-7", cubin())
    write("elf", "cubin-8", cubin(abi=8))
    write("elf", "cubin-9", cubin(abi=9))
    write("elf", "cubin-100", cubin(arch=100, abi=8))
    write("elf", "cubin-other", cubin(symbol="other"))
    write("elf", "hsaco", elf(224, [(3, 0, b"\0")], kind=3))
    write("elf", "module", module())
    write("elf", "module-musl", module(libc=b"libc.musl-x86_64.so.1"))
    write("elf", "module-arm", module(machine=183))
    write("elf", "module-riscv", module(machine=243, versions=()))
    write("elf", "cut", cubin()[:-1])
    first = cubin(table_first=True)
    symbols, strings = 120 + 64, 120 + 128
    write("elf", "table-first", first)
    write("elf", "unended", cubin(table_first=True, end=b""))
    write("elf", "wrapped-symbols", patched(first, symbols + 24, 2**64 - 16))
    write("elf", "wrapped-strings", patched(first, strings + 24, 2**64 - 1))
    write("elf", "strings-beyond", patched(first, strings + 32, 2**20))
    name = 120 + 192 + 24
    write("elf", "name-beyond", patched(patched(
        first, name, 0x1001200000010), strings + 32, 2**20))
    write("elf", "strings-elsewhere", patched(patched(
        first, strings + 24, 2**64 - 1), strings, 8 << 32))
    write("elf", "table-beyond", patched(first, 40, 2**64 - 64))
    write("elf", "segment-beyond", patched(first, 64 + 8, 2**64 - 8))
    write("elf", "real-cubin-7", real["h100"].read(
        lambda name: "/KRJX2HQ7" in name and name.endswith(".cubin")))
    write("elf", "real-cubin-8", real["inductor"].read(
        lambda name: "/XPETVNBK" in name and name.endswith(".cubin")))
    write("elf", "real-module", real["h100"].read(
        lambda name: "/HEUKIG4J" in name and name.endswith(".so")))


def write_scrubs(real):
    root = "/home/serve/.triton/cache"
    for name, source in real.items():
        if name in ("h100", "inductor"):
            continue
        for kind in ("__grp__add_kernel.json", "add_kernel.json"):
            text = source.read(lambda path, kind=kind: path.endswith(
                "/" + kind)).decode()
            key = source.key("/add_kernel.json")
            write("scrub", f"{name}-{kind.strip('_').split('.')[0]}",
                  root + "\n" + text.replace(key, KEY))
    names = ["add_kernel.cubin", "add_kernel.ttir", "add_kernel.json"]
    place = f"{root}/{KEY}"
    write("scrub", "list", root + "\n" + json.dumps({"child_paths": names}))
    write("scrub", "moved", "/mnt/cache\n" + group(names, place).decode())
    write("scrub", "relative", root + "\n" + group(
        names, f"./cache/{KEY}").decode())
    write("scrub", "members", root + "\n" + group(
        names, place, version=1, more=[{"a": [None, True, -1.5e3]}]).decode())
    odd = "/srv/\u00e9 \"\\\U0001f600/\x01"
    write("scrub", "escaped", odd + "\n" + group(
        names, f"{odd}/{KEY}").decode())
    write("scrub", "slashes", root + "\n" + group(
        names, place).decode().replace("/", "\\/"))
    write("scrub", "values", root + "\n" + json.dumps(
        {"a": place, "b": place + "/x", "c": place + "x", "d": [place],
         place: 1, "e": "x" + place}))
    write("scrub", "sentinel", root + "\n" + group(
        names, SENTINEL).decode())
    write("scrub", "bytes", b"/srv/\xff\n" + group(
        names, f"/srv/\udcff/{KEY}"))
    write("scrub", "sentinel-in-member", root + "\n" + group(
        names, place, more={"a": [SENTINEL + "/x"]}).decode())
    write("scrub", "sentinel-in-list", root + "\n" + json.dumps(
        {"child_paths": [*names, SENTINEL]}))
    write("scrub", "long-number", root + "\n" + metadata().decode().replace(
        ": 90,", ": 90." + 5000 * "0" + ","))
    write("scrub", "long-text", root + "\n" + metadata().decode().replace(
        "cuda", 5000 * "x"))
    write("scrub", "control", root + "\n" + metadata().decode().replace(
        "cuda", "\\n"))
    write("scrub", "outside", root + "\n" + group(
        names, "/etc").decode())
    write("scrub", "top", "/\n" + group(names, f"/{KEY}").decode())


def write_jsons():
    write("json", "metadata", metadata(a=[None, True, 1.5e-7, float("nan")]))
    write("json", "manifest", manifest([autotune(), kernel()]))
    write("json", "group", group(["a.cubin"], "/x/\u00e9\U0001f600"))
    write("json", "strings", '["\\u0000\\ud83d\\ude00\\ud800\\udcff\\/\\b'
          '\\f\\n\\r\\t\\"\\\\", "\u00e9\u20ac\U0001f600"]')
    for name, data in [("overlong", b"\xc0\x80"), ("tail", b"\x80"),
                       ("surrogate", b"\xed\xa0\x80"), ("cut", b"\xe2\x82")]:
        write("json", f"utf8-{name}", b'"' + data + b'"')
    write("json", "numbers", "[-Infinity,Infinity,NaN,-0.0e+1,10,0,-1E5,"
          "18446744073709551615,18446744073709551616]")
    write("json", "deep", "[" * 63 + "{}" + "]" * 63)
    write("json", "too-deep", "[" * 65 + "]" * 65)
    write("json", "canonical", '{"a":[],"b":{"":"\\u0001\\"","z":0},"c":null}')
    write("json", "spaces", ' { "a" : [ 1 , 2 ] ,\r\n\t"a" : { } } ')


def write_trees():
    write("tree", "build", b"0d = s$ $:\nrule cc\n  deps = gcc\n  depfile = $\n"
          b" x\nbuild $d/o | p: cc ${d}/a $\n b/../c | c || d |@ e\n  d = t\n"
          b"default o\n# c\nbuild q: phony o\n")
    write("tree", "log", b"1# ninja log v5\n1\t2\t1700000000000000001\ta.o\tf0\n"
          b"1\t2\t0\tb c\tf\n1\t2\t1700000000\ta.o\tf0\n")
    for version, mtime in ((3, b"\1\0\0\0"), (4, 8 * b"\1")):
        deps = struct.pack("<12sI", b"# ninjadeps\n", version)
        for number, path in enumerate((b"a.o\0", b"/usr/x.h")):
            deps += struct.pack("<I", len(path) + 4) + path
            deps += struct.pack("<I", 0xFFFFFFFF - number)
        deps += struct.pack("<II", 0x80000000 | 8 + len(mtime), 0)
        write("tree", f"deps-{version}", b"2" + deps + mtime + b"\1\0\0\0")
    write("tree", "glob", b"3**/a*[!b-d]?/[*/**\nx/y/a.cz/*/k")
    text = (b'{"A_KEY": "x", "t": ["--api-key", "y"], "DB_PASSWORD": [1, {}], '
            b'"c": "A_TOKEN=z \\"B_KEY\\": 12 /a/a/b\\n/a b -I/a:$ /\xc3\xa9 '
            b"/\\u00e9 '/a\\\\'b' /a$ b/a$:$$\", \"d\": \"PASSWORD: '''x\"}")
    for style, name in enumerate(("none", "json", "python", "ninja", "text")):
        for kind, what in ((4, "secrets"), (6, "paths")):
            write("tree", f"{what}-{name}",
                  bytes([ord("0") + kind + 8 * style]) + text)
    write("tree", "sentinels", bytes([ord("0") + 6 + 8]) +
          b'["[REPLACE:a]", "[REPLACE:c:utf-8]/[REPLACE:zz]"]')


class Source:
    """A fixture."""

    def __init__(self, name):
        self.path = FIXTURES / f"{name}.tar.gz"
        with tarfile.open(self.path) as tar:
            self.files = {member.name: tar.extractfile(member).read()
                          for member in tar if member.isfile()}

    def find(self, wanted):
        return next(name for name in sorted(self.files) if wanted(name))

    def read(self, wanted):
        return self.files[self.find(wanted)]

    def key(self, ending):
        return self.find(lambda name: name.endswith(ending)).split("/")[-2]


def real_key(root, prefix):
    return next(path.name for path in sorted(root.iterdir())
                if path.name.startswith(prefix))


def write_bundles(program, save, folder):
    for name in ("triton-3.0.0-cpu", "triton-3.6.0-cpu", "triton-3.6.0-h100"):
        with tarfile.open(FIXTURES / f"{name}.tar.gz") as tar:
            tar.extractall(folder / name)

    def collect(seed, source, *arguments):
        out = folder / "out.tkb"
        subprocess.run([program, "collect", folder / source / ".triton/cache",
                        "-o", out, *arguments], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        write("bundle", seed, out.read_bytes())
        return out.read_bytes()

    whole = collect("lean", "triton-3.6.0-cpu", "--profile", "lean",
                    "--key", KEY)
    collect("full", "triton-3.6.0-cpu", "--key", KEY)
    small = collect("lean-all", "triton-3.0.0-cpu", "--profile", "lean")
    collect("module", "triton-3.6.0-h100", "--key", "HEUKIG4J")
    collect("autotune", "triton-3.6.0-cpu", "--key", "OHLECDAU")
    with tarfile.open(FIXTURES / "vllm-0.24-small-h200.tar.gz") as tar:
        tar.extractall(folder / "vllm")
    out = folder / "trees.tkb"
    shutil.rmtree(folder / "vllm/.triton")
    for large in (folder / "vllm").glob(".cache/vllm/*/*/*/inductor_cache"):
        shutil.rmtree(large)
    subprocess.run([program, "collect", "--engine", "vllm", "-o", out],
                   env={**os.environ, "HOME": str(folder / "vllm")},
                   check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    write("bundle", "trees", out.read_bytes())
    # The partner of every merge, see fuzz_merge.c.
    saved = folder / "saved.tkb"
    cache = folder / "triton-3.6.0-cpu/.triton/cache"
    subprocess.run([save, cache, saved, "lean", "put", KEY, "0", "put",
                    real_key(cache, "OHLECDAU"), "0",
                    "launcher", "fx-1", "add_kernel", "any", "a payload", KEY,
                    "launcher", "fx-2", "add_kernel", "all", "another", KEY,
                    "launcher", "fx-3", "add_kernel", "any", "a payload",
                    KEY], check=True)
    write("bundle", "saved", saved.read_bytes())
    other = folder / "other.tkb"
    subprocess.run([save, cache, other, "lean", "put", KEY, "1", "put", KEY,
                    "2"], check=True)
    write("bundle", "device", other.read_bytes())
    (folder / "lean.tkb").write_bytes(whole)
    (folder / "all.tkb").write_bytes(small)
    for name, inputs in [("merged", ("lean", "saved")),
                         ("merged-again", ("merged", "all", "saved"))]:
        out = folder / f"{name}.tkb"
        subprocess.run([program, "merge", "-o", out,
                        *(folder / f"{item}.tkb" for item in inputs)],
                       check=True, stdout=subprocess.DEVNULL)
        write("bundle", name, out.read_bytes())
    write("bundle", "cut", whole[:-1])
    write("bundle", "cut-half", whole[:len(whole) // 2])
    write("bundle", "behind", whole + b"\0")
    write("bundle", "flipped", whole[:-200] + bytes([whole[-200] ^ 1]) +
          whole[-199:])
    write("bundle", "empty", b"")
    write("bundle", "skippable", struct.pack("<II", 0x184d2a50, 4) + b"skip")


def statement(kind="record", subjects=(("ab" * 32, "model/a"),), **members):
    predicate = {"expires": "2027-02-21T12:00:00Z", "sequence": 5}
    if kind == "record":
        predicate.update(content="cd" * 32, stage="dev", targets=["cuda:90"])
    predicate.update(members)
    return canonical({
        "_type": "https://in-toto.io/Statement/v1", "predicate": predicate,
        "predicateType": f"https://tkbundle.dev/{kind}/v1",
        "subject": [{"digest": {"sha256": digest}, "name": name} for digest, name in subjects]})


def envelope(payload, *sizes):
    return {"payload": base64.b64encode(payload.encode()).decode(),
            "payloadType": "application/vnd.in-toto+json",
            "signatures": [{"keyid": "ef" * 32, "sig": base64.b64encode(bytes(size)).decode()}
                           for size in sizes]}


def write_trust():
    """The first letter says what it is."""
    several = statement("revocation", (("ab" * 32, "revoked"), ("cd" * 32, "revoked")))
    bundle = {"dsseEnvelope": envelope(statement(), 64),
              "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
              "verificationMaterial": {"publicKey": {"hint": "ab" * 32}, "tlogEntries": []}}
    pem = ("-----BEGIN PUBLIC KEY-----\n"
           "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
           "-----END PUBLIC KEY-----\n")
    seeds = {
        "statement": "s" + statement(),
        "statement-prod": "s" + statement(stage="prod", targets=[]),
        "statement-float": "s" + statement(sequence=5.0),
        "statement-more": "s" + statement(other=1),
        "statement-two": "s" + statement(subjects=(("ab" * 32, "a"), ("cd" * 32, "b"))),
        "list": "l" + several,
        "list-empty": "l" + statement("revocation", ()),
        "list-turned": "l" + statement("revocation", (("cd" * 32, "revoked"),
                                                      ("ab" * 32, "revoked"))),
        "envelope": "e" + canonical(envelope(statement(), 64)),
        "envelope-two": "e" + canonical(envelope(statement(), 64, 72)),
        "envelope-none": "e" + canonical(envelope(statement())),
        "envelope-list": "e" + canonical(envelope(several, 74)),
        "sigstore": "b" + json.dumps(bundle),
        "sigstore-two": "b" + json.dumps({**bundle, "dsseEnvelope": envelope(statement(), 64,
                                                                             64)}),
        "key": "k" + pem,
        "key-none": "k" + pem.replace("PUBLIC KEY", "CERTIFICATE"),
        "key-private": "k" + pem.replace("PUBLIC", "PRIVATE"),
        "key-minisign": "kuntrusted comment: minisign public key\n"
                        + base64.b64encode(b"Ed" + bytes(40)).decode() + "\n",
    }
    for name, text in seeds.items():
        write("trust", name, text)


# What remotes are told: records, answers of Redis, URLs.

def record(entries=(), **members):
    value = {"blob": ["ab" * 32, 1234], "bundle": "cd" * 32,
             "entries": list(entries), "format": "tkbundle-record",
             "frames": "ef" * 32, "profile": "full", "version": 1}
    value.update(members)
    return canonical({k: v for k, v in value.items() if v is not None})


def write_records():
    kernel = [KEY, "", ["cuda", "90", 32], [0, 1]]
    module = [KEY, "x86_64-glibc-cpython-312", ["", "", 0], [0]]
    seeds = {
        "empty": record(),
        "entries": record([kernel, module]),
        "lean": record([kernel], profile="lean"),
        "units": record([[hashlib.sha256(b"vllm\0a/b").hexdigest(), "", ["", "", 0], [0], ["vllm", "a/b"]]],
                        version=2),
        "units-old": record([[hashlib.sha256(b"vllm\0a/b").hexdigest(), "",
                              ["", "", 0], [0], ["vllm", "a/b"]]]),
        "units-other-key": record([["ab" * 32, "", ["", "", 0], [0],
                                    ["vllm", "a/b"]]], version=2),
        "units-climbing": record([["ab" * 32, "", ["", "", 0], [0],
                                   ["vllm", "../b"]]], version=2),
        "newer": record(version=3),
        "older": record(version=0),
        "no-frames": record(frames=None),
        "no-devices": record([[KEY, "", ["cuda", "90", 32], []]]),
        "devices-turned": record([[KEY, "", ["cuda", "90", 32], [1, 0]]]),
        "device-too-high": record([[KEY, "", ["", "", 0], [1 << 20]]]),
        "bad-key": record([["../up", "", ["cuda", "90", 32], [0]]]),
        "nul": record([[KEY, "a\0b", ["cuda", "90", 32], [0]]]),
        "escape": record([[KEY, "\x1b[31m", ["cuda", "90", 32], [0]]]),
        "large": record(blob=["ab" * 32, (1 << 64) - 1]),
        "too-large": record(blob=["ab" * 32, 1 << 64]),
        "another-format": record(format="tkbundle"),
        "spaced": record().replace(",", ", "),
        "behind": record() + "\n",
        "cut": record([kernel])[:-9],
    }
    for name, text in seeds.items():
        write("record", name, text)


def resp(value):
    """A server's answer: an error is an Exception, a status a tuple."""
    if value is None:
        return b"$-1\r\n"
    if isinstance(value, int):
        return b":%d\r\n" % value
    if isinstance(value, Exception):
        return b"-%s\r\n" % str(value).encode()
    if isinstance(value, tuple):
        return b"+%s\r\n" % value[0].encode()
    if isinstance(value, list):
        return b"*%d\r\n" % len(value) + b"".join(map(resp, value))
    value = value.encode() if isinstance(value, str) else value
    return b"$%d\r\n%s\r\n" % (len(value), value)


OK, QUEUED = ("OK",), ("QUEUED",)


def write_resps():
    seeds = {
        "all": [OK, 7, -7, None, "text", "", b"\0\xff\r\n", [], [1, [2, [3]]],
                ValueError("ERR no")],
        "deep": [[[[[[[[[[1]]]]]]]]]],
        "long": ["x" * 300, ["y" * 70, None]],
    }
    for name, answers in seeds.items():
        for piece in (0, 1, 3, 16, 255):
            write("resp", f"{name}-{piece}",
                  bytes([piece]) + b"".join(map(resp, answers)))
    for name, text in {
            "too-many": "*2000000\r\n", "many": "*1000\r\n:1\r\n",
            "minus": "*-2\r\n", "nil-array": "*-1\r\n:1\r\n",
            "huge": "$999999999999\r\nx", "minus-bulk": "$-2\r\n",
            "no-kind": "?1\r\n", "no-number": ":one\r\n", "cut": "$5\r\nab",
            "no-end": "$2\r\nabc\r\n", "line": "+" + "x" * 100, "crs": "\r\n",
            "resp3": "%1\r\n+a\r\n:1\r\n", "push": ">1\r\n:1\r\n",
            "double": ",1.5\r\n", "double-in": "*2\r\n,inf\r\n:1\r\n",
            "bool": "#t\r\n", "bool-in": "*1\r\n#f\r\n", "nil": "_\r\n",
            "bignum": "(123456789012345678901234567890\r\n",
            "verbatim": "=7\r\ntxt:abc\r\n", "verbatim-cut": "=1\r\na\r\n",
            "set": "~2\r\n+a\r\n+b\r\n", "empty-map": "%0\r\n",
            "attribute": "|1\r\n+a\r\n:1\r\n:2\r\n",
            "attribute-in": "*1\r\n|1\r\n+a\r\n:1\r\n:2\r\n",
            "map-many": "%9223372036854775807\r\n",
            "very-deep": "*1\r\n" * 2000}.items():
        write("resp", name, b"\x02" + text.encode())


def write_redis():
    a, b = "01" + "00" * 31, "02" * 32
    now = "1700000000"
    seeds = {
        "get": (0, [4, 1, "blob"]),
        "get-changed": (0, [4, 1, "blobs"]),
        "get-empty": (0, [0, 1, "", ""]),
        "get-gone": (0, [0, 0, ""]),
        "get-nil": (0, [0, 1, "", None]),
        "get-rest": (1, [7, 1, "blob"]),
        "get-long": (0, [3000000, 1, "x" * 1000]),
        "get-minus": (0, [-1, 1, "x"]),
        "get-other": (0, [["4"], 1, "blob"]),
        "get-ttl": (128, [4, 1, 1, "blob"]),
        "has": (2, [1, 0, 1]),
        "has-refused": (2, [1, ValueError("NOPERM no permissions to run the "
                                          "'exists' command")]),
        "list": (3, [["0", ["tkbundle:cas:" + a, "tkbundle:cas:" + b,
                            "tkbundle:cas:" + a, "tkbundle:cas:x"]],
                     4, 1, now, 0, 0, None]),
        "list-rounds": (3, [["7", ["tkbundle:cas:" + a]], ["0", []],
                            4, 1, None, 1]),
        "list-no-scan": (3, [["0", "x"]]),
        "list-long-cursor": (3, [["0" * 40, []]]),
        "records": (4, [[a, now], [a, "record", b, "", "x", "y"], 1]),
        "records-odd": (4, [[a], [a]]),
        "records-nested": (4, [[[a], now], [a, [1]]]),
        "records-late": (4, [[a, "9" * 19], [a, "r"]]),
        "refs": (5, [["0", ["tkbundle:ref:b", "tkbundle:ref:a",
                            "tkbundle:ref:b", "tkbundle:ref:../x",
                            "tkbundle:ref:a\0b", "other"]]]),
        "put": (6, [OK, 1, 1, 1, OK, QUEUED, QUEUED, [OK, OK],
                    OK, QUEUED, QUEUED, [OK, OK]]),
        "put-oom": (6, [ValueError("OOM command not allowed"), 1]),
        "put-aborted": (6, [OK, 1, 1, 1, OK, QUEUED, ValueError("OOM no"),
                            ValueError("EXECABORT discarded")]),
        "put-moved": (6, [ValueError("MOVED 1 127.0.0.1:1")]),
        "touch": (7, [1, 1]),
        "touch-gone": (7, [1, 0, 1]),
        "noauth": (7, [ValueError("NOAUTH Authentication required.")]),
        "escape": (7, [ValueError("\x1b[31m red \xff")]),
    }
    for name, (wish, answers) in seeds.items():
        write("redis", name, bytes([wish, 0 if len(name) % 2 else 5]) +
              b"".join(map(resp, answers)))


def write_urls():
    for name, text in {
            "path": "/var/cache/x?mode=ro",
            "relative": "cache",
            "file": "file:///var/cache/a%20b",
            "memory": "memory://name",
            "redis": "redis://host:6379/2?ttl=30d&prefix=team&timeout=500ms",
            "redis-acl": "redis://user:pass%40word@host/0",
            "rediss": "rediss://[::1]:6380?cafile=ca.pem&verify=false",
            "socket": "redis+unix://:pw@/run/redis.sock?db=1",
            "http": "https://user@host:8443/a/b?netrc=true",
            "s3": "s3://bucket/prefix?region=eu-west-1&endpoint=http://h:9",
            "tiers": "cache,redis://h?mode=ro&on-error=ignore,memory://x",
            "twice": "redis://h?db=1&db=2",
            "unknown": "gopher://h\nm",
            "unknown-param": "file:///x?colour=red",
            "fragment": "redis://h/1#x",
            "nul": "file:///%00",
            "control": "file:///%1b",
            "hex": "file:///%zz",
            "port": "redis://h:65536",
            "bracket": "redis://[::1",
            "empty": "", "commas": ",,,", "no-scheme": "://x",
            "number": "18446744073709551615", "time": "30d", "size": "20Gi",
            "ref": "x\nmodel/{arch}/{gpu}-{driver}@{triton}+{env:HOME}",
            "ref-plain": "x\nteam/model-7b@v1.2+x=y_z",
            "ref-braces": "x\n{{arch}}{}{env:}{",
            "ref-long": "x\n" + "a" * 201,
            "ref-dots": "x\na/.b/../c"}.items():
        write("url", name, text)


def write_listings():
    a, b = "01" * 32, "02" * 32
    item = {"name": a, "type": "file", "mtime": "Sat, 21 Nov 2026 05:39:39 GMT",
            "size": 5}
    indexes = {
        "empty": [], "files": [item, dict(item, name=b)],
        "folder": [{"name": "model,h100", "type": "directory",
                    "mtime": "Sat, 21 Nov 2026 05:39:39 GMT"}],
        "unknown": [dict(item, more=[1, {"x": None}], size=-1.5)],
        "no-name": [{"type": "file"}], "number": [dict(item, name=1)],
        "nul": [dict(item, name=a + "\0")], "long": [dict(item, name="x" * 5000)],
        "long-type": [dict(item, type="x" * 5000)],
        "dates": [dict(item, mtime=date) for date in
                  ("", "Sat, 99 Foo 0000 99:99:99 GMT", "-1", "x" * 200)],
        "object": item, "strings": ["x"]}
    for name, value in indexes.items():
        write("listing", f"index-{name}", b"\0" + json.dumps(value).encode())
    write("listing", "index-cut", b"\0" + json.dumps([item])[:-5].encode())
    write("listing", "index-html", b"\0<html><body>Index</body></html>")

    def dav(*responses):
        return ('<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus '
                'xmlns:D="DAV:">' + "".join(responses) + "</D:multistatus>")

    def response(href, more=""):
        return (f"<D:response><D:href>{href}</D:href><D:propstat><D:prop>"
                f"{more}<D:getlastmodified>Sat, 21 Nov 2026 05:39:39 GMT"
                "</D:getlastmodified></D:prop></D:propstat></D:response>")

    folder = "<D:resourcetype><D:collection/></D:resourcetype>"
    size = "<D:getcontentlength>5</D:getcontentlength>"
    for name, text in {
            "files": dav(response("/base/cas/", folder),
                         response(f"/base/cas/{a}", size),
                         response(f"http://h:1/base/cas/{b}", size)),
            "escaped": dav(response("/base/cas/a%20b%2Fc%00d%zz%")),
            "folders": dav(response("/base/cas/model,h100/", folder)),
            "no-href": dav("<D:response/>"), "empty": dav(),
            "slashes": dav(response("////")),
            "size": dav(response("/base/cas/x", "<D:getcontentlength>"
                                 "99999999999999999999</D:getcontentlength>")),
            "deep": "<a>" * 17 + "</a>" * 17, "other": "<html/>",
            "doctype": '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
            "entity": dav(response("/base/cas/a&amp;b&#x41;")),
            "long": dav(response("x" * 17000)), "cut": dav()[:-3]}.items():
        write("listing", f"dav-{name}", b"\1" + text.encode())
    head = "tkbundle index 1\n"
    for name, text in {"empty": head, "lines": f"{head}{a}\n{b}\n",
                       "open": f"{head}{a}", "blank": f"{head}\n\n",
                       "long": head + "x" * 1000 + "\n",
                       "another": "x\n"}.items():
        write("listing", f"document-{name}", b"\2" + text.encode())


def write_pools():
    """What workers say: see pool_fuzz.c."""
    hello, job, log, answer, done, last = range(1, 7)
    mended, greeted, unsent, last_try = 1, 2, 4, 8

    def record(kind, body=b"", number=1):
        return struct.pack("<BBH", kind, number, len(body)) + body

    def head(kind, size, number=1, magic=0x746B6232):
        return struct.pack("=IIQQ", magic, kind, number, size)

    def result(rc, message=b"", size=524):
        return struct.pack("=iii512s", rc, rc, 0, message)[:size]

    def seed(name, flags, data, piece=0):
        write("pool", name, bytes([flags, piece]) + data)

    well = (record(log, b"a line\n") + record(answer, b"the ") +
            record(answer, b"answer") + record(done, result(0)))
    seed("done", mended | greeted, well)
    seed("pieces", mended | greeted, well, 5)
    seed("last", mended | greeted, well[:-528] + record(last, result(0)))
    seed("hello", mended, record(hello, number=0))
    seed("job-at-hand", mended | greeted, record(answer, b"a", 0) +
         record(done, result(0), 0))
    seed("failed", mended | greeted, record(done, result(-4, b"bad\x1bIR")))
    seed("failed-silently", mended | greeted, record(done, result(-3)))
    seed("no-end-of-text", mended | greeted,
         record(done, result(-3, b"x" * 512)))
    seed("odd-result", mended | greeted, record(done, result(1)))
    seed("low-result", mended | greeted, record(done, result(-11)))
    seed("short-result", mended | greeted, record(done, result(0, size=523)))
    seed("twice", mended | greeted, well + record(done, result(0)))
    seed("other-job", mended | greeted, record(done, result(0), 7))
    seed("hello-again", mended | greeted, record(hello))
    seed("a-job", mended | greeted, record(job, b"12345678"))
    seed("unsent", mended | greeted | unsent, record(done, result(0)))
    seed("before-hello", mended, record(done, result(0)))
    seed("much-log", mended | greeted, record(log, b"0123456789" * 90) * 3 +
         record(done, result(0)))
    seed("much-answer", mended | greeted, record(answer, b"x" * 3000) * 2 +
         record(done, result(0)))
    seed("ended", mended | greeted | last_try, record(answer, b"half"))
    seed("raw", greeted, head(answer, 2) + b"ab" + head(done, 524) + result(0))
    seed("half-head", greeted, head(answer, 2)[:13])
    seed("magic", greeted, head(answer, 2, magic=0x746B6231) + b"ab")
    seed("huge", greeted, head(answer, 2**64 - 7) + b"ab")
    seed("over-a-piece", greeted, head(answer, 65537) + b"ab")
    seed("kind-0", greeted, head(0, 0))
    seed("kind-7", greeted, head(7, 0))


def main():
    real = {name: Source(f"triton-{name}-cpu")
            for name in ("3.0.0", "3.2.0", "3.6.0", "3.9.0")}
    real["h100"] = Source("triton-3.6.0-h100")
    real["inductor"] = Source("inductor-2.11-llama4-h100")
    write_jsons()
    write_manifests()
    write_elfs(real)
    write_scrubs(real)
    write_frames()
    write_launcher_frames()
    write_mixed_frames()
    write_records()
    write_trust()
    write_resps()
    write_redis()
    write_urls()
    write_listings()
    write_pools()
    write_trees()
    with tempfile.TemporaryDirectory() as folder:
        write_bundles(sys.argv[1], sys.argv[2], pathlib.Path(folder))


if __name__ == "__main__":
    main()
