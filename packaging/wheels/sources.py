# SPDX-License-Identifier: Apache-2.0
"""Fetches Debian's source packages, checks them against sources.lock, unpacks them."""

import hashlib
import shutil
import urllib.error
import urllib.request
from pathlib import PurePosixPath

from place import HERE, WORK, fail, run, say

# A security update is in a pool of its own until the next release of stable.
POOLS = ("http://deb.debian.org/debian/pool/",
         "http://deb.debian.org/debian-security/pool/updates/")
PATIENCE_S = 60


def lock():
    """{path in the pool: SHA-256}"""
    out = {}
    for line in (HERE / "sources.lock").read_text().splitlines():
        if line and not line.startswith("#"):
            digest, path = line.split()
            out[PurePosixPath(path)] = digest
    return out


class Source:
    """A source package."""

    def __init__(self, dsc, files):
        self.name = dsc.parent.name
        self.version = dsc.stem[len(self.name) + 1:]  # Debian's
        self.dsc = dsc
        self.files = files  # {path: digest}
        self.folder = WORK / "sources" / dsc.stem

    @property
    def upstream(self):
        """The upstream version."""
        return self.version.rsplit("-", 1)[0].partition("+dfsg")[0]

    def stamp(self):
        """Changes with each byte of it."""
        text = "".join(f"{path} {self.files[path]}\n"
                       for path in sorted(self.files))
        return hashlib.sha256(text.encode()).hexdigest()


def sources():
    """{name: Source}"""
    files = lock()
    out = {}
    for dsc in files:
        if dsc.suffix == ".dsc":
            own = {path: digest for path, digest in files.items()
                   if path.parent == dsc.parent}
            out[dsc.parent.name] = Source(dsc, own)
    return out


def digest_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def download(path, out):
    for pool in POOLS:
        try:
            with urllib.request.urlopen(pool + str(path),
                                        timeout=PATIENCE_S) as answer, \
                    open(out, "wb") as file:
                shutil.copyfileobj(answer, file)
            return
        except urllib.error.HTTPError as error:
            if error.code != 404:
                fail(f"{pool}{path}: {error}")
        except OSError as error:
            fail(f"{pool}{path}: {error}")
    fail(f"Debian's pool does not have {path} any more: renew sources.lock "
         "with packaging/wheels/renew.py")


def fetch(source):
    """Have each of its files, with the bytes that the lock names."""
    folder = WORK / "downloads"
    folder.mkdir(parents=True, exist_ok=True)
    for path, digest in source.files.items():
        file = folder / path.name
        if file.exists() and digest_of(file) == digest:
            continue
        part = file.with_name(file.name + ".part")
        say(f"fetching {path.name}")
        download(path, part)
        if digest_of(part) != digest:
            fail(f"{path.name} is not the file that sources.lock names")
        part.rename(file)
    return folder / source.dsc.name


def unpack(source):
    """Its folder, with Debian's patches."""
    if source.folder.exists():
        return source.folder
    dsc = fetch(source)
    part = source.folder.with_name(source.folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.parent.mkdir(parents=True, exist_ok=True)
    say(f"unpacking {source.name} {source.version}")
    # The hashes in the lock replace the check of signatures.
    run(["dpkg-source", "--no-check", "-x", dsc, part],
        log=WORK / "sources" / f"{source.name}.log")
    part.rename(source.folder)
    return source.folder
