# SPDX-License-Identifier: Apache-2.0
"""Archives that are torn, lie, or were made to do harm: one sentence each."""
import gzip
import io
import os
import stat
import struct
import subprocess
import tarfile
import zipfile

from importing import TRITON, read
from scene import UNSHARE, Skip, equal, need, require, test

MIB = 1 << 20
GIB = 1 << 30


def entry(name, kind=tarfile.REGTYPE, data=b"", mode=0o644, **more):
    info = tarfile.TarInfo(name)
    info.type = kind
    info.mode = mode
    info.size = len(data) if kind == tarfile.REGTYPE else 0
    for key, value in more.items():
        setattr(info, key, value)
    return info, data


def tar(*entries, form=tarfile.PAX_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as file:
        for info, data in entries:
            file.addfile(info, io.BytesIO(data) if info.size else None)
    return out.getvalue()


def only(name, kind=tarfile.REGTYPE, **more):
    return tar(entry(name, kind, **more))


def zipped(*files, compression=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as file:
        for name, data in files:
            info = (name if isinstance(name, zipfile.ZipInfo)
                    else zipfile.ZipInfo(name))
            info.external_attr = info.external_attr or 0o100644 << 16
            info.compress_type = compression
            file.writestr(info, data)
    return out.getvalue()


def changed(data, old, new, count=-1):
    require(old in data, old)
    return data.replace(old, new, count)


def with_checksum(header):
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header)


def sparse(size, count=1):
    """GNU's old sparse files: a header that says so much, and no data."""
    out = b""
    for number in range(count):
        info = tarfile.TarInfo(f"a{number}")
        header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
        header[156:157] = b"S"
        # One empty part at its end, and the real size.
        header[386:410] = b"%011o\0%011o\0" % (size, 0)
        header[483:495] = b"%011o\0" % size
        out += with_checksum(header)
    return out + bytes(1024)


def long_name(size):
    """A pax header with a name of so many bytes, and nothing else."""
    record = b" path=" + b"a" * size + b"\n"
    length = len(record)
    while len(str(length)) + len(record) != length:
        length = len(str(length)) + len(record)
    body = str(length).encode() + record
    info = tarfile.TarInfo("PaxHeader")
    info.type = b"x"
    info.size = len(body)
    return (info.tobuf(tarfile.USTAR_FORMAT) + body +
            bytes(-len(body) % 512) +
            tarfile.TarInfo("short").tobuf(tarfile.USTAR_FORMAT) + bytes(1024))


def mode_in_zip(mode):
    info = zipfile.ZipInfo("a/b")
    info.create_system = 3
    info.external_attr = mode << 16
    return info


def zip64_that_lies():
    """The list of files says 2^40 bytes, by a field of zip64."""
    data = zipped(("a", b"x" * 100), compression=zipfile.ZIP_STORED)
    at = data.rindex(b"PK\1\2")
    head = bytearray(data[at:data.rindex(b"PK\5\6")])
    extra = struct.pack("<HHQQ", 1, 16, 1 << 40, 1 << 40)
    head[20:28] = b"\xff" * 8
    head[30:32] = struct.pack("<H", len(extra))
    head += extra
    end = bytearray(data[data.rindex(b"PK\5\6"):])
    end[12:16] = struct.pack("<I", len(head))
    return data[:at] + bytes(head) + bytes(end)


def zip_with_other_data():
    """Its data is not what the checksum is of."""
    return changed(zipped(("a", b"some text"), compression=zipfile.ZIP_STORED),
                   b"some text", b"SOME text")


def zip_of_two_names():
    """What stands before the data is called otherwise than in the list."""
    data = zipped(("same", b"text"), ("other", b"text"))
    return changed(data, b"other", b"same\0")


def bomb():
    """Many files of zeros: 300 KB that are 17 GiB."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=9, mtime=0) as to:
        to.write(sparse(250 * MIB, 70))
    return out.getvalue()


def one_of_zeros(size):
    """One file of zeros, compressed."""
    out = io.BytesIO()
    info = tarfile.TarInfo("zeros")
    info.size = size
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1, mtime=0) as to:
        to.write(info.tobuf(tarfile.GNU_FORMAT))
        for _ in range(8):
            to.write(bytes(MIB))
    return out.getvalue()


def below_zero():
    header = bytearray(tarfile.TarInfo("a").tobuf(tarfile.USTAR_FORMAT))
    header[124:136] = b"\xff" * 12
    return with_checksum(header) + bytes(1024)


# Each: its name, its bytes, the exit status, and words of the sentence.
ROWS = [
    ("a link out", only("a", tarfile.SYMTYPE, linkname="../../etc/passwd"), 5,
     "'a' is a link out of the archive, to '../../etc/passwd'"),
    ("an absolute link", only("a", tarfile.SYMTYPE, linkname="/etc"), 5,
     "'a' is a link out of the archive, to '/etc'"),
    ("a link out of a folder", only("a/b/c", tarfile.SYMTYPE,
                                    linkname="../../../x"), 5,
     "'a/b/c' is a link out"),
    ("a hard link out", only("a", tarfile.LNKTYPE, linkname="../../x"), 5,
     "'a' is a link: '../../x' leads out of the archive"),
    ("a hard link to a file outside", only("a", tarfile.LNKTYPE,
                                           linkname="/etc/passwd"), 5,
     "'a' is a link: '/etc/passwd' is absolute"),
    ("a hard link to nothing", only("a", tarfile.LNKTYPE, linkname="b"), 5,
     "'a' is a link to 'b', which is not in the archive before it"),
    ("a hard link to itself", only("a", tarfile.LNKTYPE, linkname="a"), 5,
     "'a' is a link to 'a', which is not in the archive before it"),
    ("a file behind a link", tar(entry("a", tarfile.SYMTYPE, linkname="b"),
                                 entry("b/x", data=b"1"),
                                 entry("a/y", data=b"2"),
                                 entry("a/y", data=b"3")), 5,
     "'a/y' is in the archive twice"),
    ("a name that goes up", only("../a"), 5, "'../a' leads out"),
    ("a name that goes up later", only("a/../../b"), 5,
     "'a/../../b' leads out"),
    ("an absolute name", only("/tmp/a"), 5, "'/tmp/a' is absolute"),
    ("an absolute name in a ZIP", zipped(("/a", b"")), 5, "'/a' is absolute"),
    ("a name that goes up in a ZIP", zipped(("a/../../b", b"")), 5,
     "leads out of the archive"),
    ("one name twice", tar(entry("a", data=b"1"), entry("./a", data=b"2")), 5,
     "'a' is in the archive twice"),
    ("one name twice in a ZIP", zip_of_two_names(), 5, ""),
    ("a file and a folder of one name",
     tar(entry("a", data=b"1"), entry("a/b", data=b"2")), 5,
     "'a' is in the archive as a folder and as a file"),
    ("a folder and a file of one name",
     tar(entry("a/b", data=b"1"), entry("a", data=b"2")), 5,
     "'a' is in the archive twice"),
    ("a folder where a file is",
     tar(entry("a", data=b"1"), entry("a", tarfile.DIRTYPE)), 5,
     "'a' is in the archive as a folder and as a file"),
    ("a device of characters", only("a", tarfile.CHRTYPE), 5,
     "'a' is a device"),
    ("a device of blocks", only("a", tarfile.BLKTYPE), 5, "'a' is a device"),
    ("a pipe", only("a", tarfile.FIFOTYPE), 5, "'a' is a pipe"),
    ("a socket in a ZIP", zipped((mode_in_zip(stat.S_IFSOCK | 0o644), b"")), 5,
     "'a/b' is a socket"),
    ("a link out in a ZIP", zipped((mode_in_zip(stat.S_IFLNK | 0o777),
                                    b"../../x")), 5, "'a/b' is a link out"),
    ("a program with its owner's rights", only("a", mode=0o4755), 5,
     "'a' would run with rights of its owner or group"),
    ("a program with its group's rights", only("a", mode=0o2755), 5,
     "'a' would run with rights of its owner or group"),
    ("a mark of an image layer", only("a/.wh.b"), 5,
     "'a/.wh.b' removes a file of the layers below this one"),
    ("a mark of a whole folder", only("a/.wh..wh..opq"), 5,
     "removes a file of the layers below"),
    ("a name with a new line", only("a\nb"), 5,
     r"'a\x0ab' is not a valid name: it has invisible characters"),
    ("a name with a color", only("a\x1b[31m"), 5, r"'a\x1b[31m' is not a valid name"),
    ("a name that is no text", only(b"a\xff".decode("latin-1"),
                                    pax_headers={}).replace(
        "ÿ".encode(), b"\xff\xfe"), 5, ""),
    ("a name that turns the direction", only("a\u202eb"), 5, "is not a valid name"),
    ("a name of 300 bytes", only("a" * 300), 1, "is too long"),
    ("a name of 5 MB", long_name(5_000_000), 5, ""),
    ("a name of 3 KB", long_name(3000), 1, "is too long for a path"),
    ("10,000 nested folders", only("/".join(["d"] * 10000)), 1,
     "is too long for a path"),
    ("100 nested folders", only("/".join(["d"] * 100)), 1,
     "lies in too many folders"),
    ("no name", only(""), 5, ""),
    ("a sparse giant", sparse(7 * GIB), 1, "'a0' has more than 1073741824 bytes"),
    ("a bomb of holes", bomb(), 1, "it unpacks to more than 17179869184 bytes"),
    ("a file that says it is larger than any", one_of_zeros(GIB + 1), 1,
     "'zeros' has more than 1073741824 bytes"),
    ("a file that says it is larger than it is", one_of_zeros(100 * MIB), 5,
     "'zeros' is damaged"),
    ("a size below zero", below_zero(), 5, ""),
    ("a zip64 that lies", zip64_that_lies(), 5, ""),
    ("a ZIP with another checksum", zip_with_other_data(), 5,
     "'a' is damaged: "),
    ("a ZIP cut in its middle", zipped(("a", os.urandom(100000)))[:50000], 5,
     ""),
    ("a ZIP without its list",
     zipped(("a", b"text")).partition(b"PK\1\2")[0], 5, ""),
    ("a locked ZIP", changed(zipped(("a", b"text")), b"PK\3\4\x14\0\0\0",
                             b"PK\3\4\x14\0\1\0").replace(
        b"PK\1\2\x14\3\x14\0\0\0", b"PK\1\2\x14\3\x14\0\1\0"), 5, "'a' is"),
    ("a gzip cut in its middle", read(TRITON)[:20000], 5, "truncated gzip"),
    ("a gzip cut in its end", read(TRITON)[:-4], 5, ""),
    ("a tar cut in a file",
     tar(entry("a", data=bytes(5000)))[:2000], 5, "'a' is damaged"),
    ("a tar cut behind a file",
     tar(entry("a", data=bytes(512)))[:1024], 5, "it has no end mark"),
    ("a tar whose header is damaged",
     changed(tar(entry("a", data=b"1")), b"0000644", b"0000645"), 5, ""),
    ("no archive", b"This is no archive.\n" * 100, 5, ""),
    ("nothing", b"", 5, ""),
    ("a bundle of tkbundle's magic and no more", b"\x28\xb5\x2f\xfd" * 10, 5,
     ""),
]


def zstd(data):
    return subprocess.run(["zstd", "-q", "-c"], input=data, check=True,
                          stdout=subprocess.PIPE).stdout


ROWS.append(("a zstd cut in its middle",
             zstd(gzip.decompress(read(TRITON)))[:20000], 5, ""))


def refuses(name, data, status, words):
    @test(f"refused with one sentence, and nothing is left: {name}")
    def _(scene):
        with open(scene.path("x.tar"), "wb") as file:
            file.write(data)
        outside = os.listdir("/tmp")

        ended = scene.tkbundle("import", "x.tar", "-o", "a.tkb", status=status)

        equal(ended.out, "", ended.err)
        require(ended.err.startswith("tkbundle: cannot import 'x.tar': "),
                ended.err)
        equal(ended.err.count("\n"), 1, ended.err)
        require(len(ended.err) < 700, ended.err)
        require(words in ended.err, ended.err)
        equal(sorted(os.listdir(scene.folder)), ["x.tar"])
        equal(scene.leftovers(), [])
        require("a" not in set(os.listdir("/tmp")) - set(outside))


for row in ROWS:
    refuses(*row)


@test("hard links to a file of holes fill no disk")
def _(scene):
    need("unshare")
    # 40 more of a file of 250 MiB, which has no byte in the archive.
    with open(scene.path("x.tar"), "wb") as file:
        file.write(sparse(250 * MIB)[:512])
        for number in range(40):
            file.write(tar(entry(f"twin{number}", tarfile.LNKTYPE,
                                 linkname="a0"))[:512])
        file.write(bytes(1024))
    os.mkdir(scene.path("small"))
    script = ("mount -t tmpfs -o size=8m none small && "
              "TMPDIR=$PWD/small exec \"$@\"")
    ended = scene.go([*UNSHARE, "--mount", "sh", "-c", script, "sh",
                      scene.program, "import", "x.tar", "-o", "a.tkb"])
    if "unshare" in ended.err or "mount" in ended.err:
        raise Skip("it may not mount")
    require("No space left" not in ended.err, ended.err)
    equal(ended.status, 3, ended.err)


@test("refused with one sentence, and nothing is left: a million links, and "
      "one more")
def _(scene):
    header = entry("a", tarfile.SYMTYPE, linkname="b")[0].tobuf()
    with gzip.open(scene.path("x.tar"), "wb", compresslevel=1) as to:
        for _ in range(101):
            to.write(header * 10000)
        to.write(bytes(1024))
    ended = scene.tkbundle("import", "x.tar", "-o", "a.tkb", status=1)
    equal(ended.err, "tkbundle: cannot import 'x.tar': it holds more than 1000000 "
          "files and folders\n")
    equal(sorted(os.listdir(scene.folder)), ["x.tar"])
