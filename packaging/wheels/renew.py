#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Updates sources.lock to the newest version of each library in Debian.

    renew.py [SUITE...]     by default stable and its security updates

A SUITE is a folder below a Debian mirror, with lists of packages.
"""

import lzma
import re
import subprocess
import sys
import urllib.request

from place import HERE, say
from recipes import RECIPES

SERVER = "http://deb.debian.org"
SUITES = ("debian/dists/trixie", "debian-security/dists/trixie-security")
HEAD = """\
# The sources that wheels are built of: files of Debian's source packages, as stable
# has them. `renew.py` writes this file anew.
#
#     <SHA-256>  <path in the pool>
"""


def packages(suite):
    """Each paragraph of its list: {field: text}."""
    with urllib.request.urlopen(
            f"{SERVER}/{suite}/main/source/Sources.xz") as answer:
        text = lzma.decompress(answer.read()).decode()
    for paragraph in text.split("\n\n"):
        yield dict(re.findall(r"^([\w-]+):[ \n]?((?:.*)(?:\n .*)*)", paragraph,
                              re.M))


def is_newer(version, other):
    return subprocess.run(["dpkg", "--compare-versions", version, "gt",
                           other]).returncode == 0


def main():
    newest = {}
    for suite in sys.argv[1:] or SUITES:
        for package in packages(suite):
            name = package.get("Package")
            if name in RECIPES and (
                    name not in newest or is_newer(package["Version"],
                                                   newest[name]["Version"])):
                newest[name] = package
    lines = []
    for name, package in newest.items():
        say(f"{name} {package['Version']}")
        folder = re.sub("^pool/(updates/)?", "", package["Directory"])
        for entry in package["Checksums-Sha256"].strip().splitlines():
            digest, _, file = entry.split()
            lines.append((f"{folder}/{file}", digest))
    (HERE / "sources.lock").write_text(
        HEAD + "".join(f"{digest}  {path}\n"
                       for path, digest in sorted(lines)))


main()
