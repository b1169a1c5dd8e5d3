# SPDX-License-Identifier: Apache-2.0
"""Lists what is inside, as CycloneDX, with the licences."""

import datetime
import json
import uuid

from place import TREE, epoch, fail, version
from sources import unpack
from toolchain import zig, zig_version

# For each source package: the SPDX name of its licence, and the file with its text.
LICENSES = {
    "openssl": ("Apache-2.0", "LICENSE.txt"),
    "libzstd": ("BSD-3-Clause", "LICENSE"),
    "curl": ("curl", "COPYING"),
    "hiredis": ("BSD-3-Clause", "COPYING"),
    "expat": ("MIT", "expat/COPYING"),
    "jansson": ("MIT", "LICENSE"),
}


def licenses(sources):
    """{path: bytes}: ours, and those of what is linked in."""
    out = {"LICENSE": (TREE / "LICENSE").read_bytes(),
           "zig/LICENSE": (zig().parent / "LICENSE").read_bytes()}
    for name, source in sources.items():
        file = unpack(source) / LICENSES[name][1]
        out[f"{name}/{file.name}"] = file.read_bytes()
    return out


def component(name, its_version, license_name, purl, **more):
    return {"type": "library", "bom-ref": purl, "name": name,
            "version": its_version,
            "licenses": [{"license": {"id": license_name}}], "purl": purl,
            **more}


def of_source(source):
    debian = source.version.replace("+", "%2B").replace("~", "%7E")
    files = [{"type": "distribution",
              "url": f"http://deb.debian.org/debian/pool/{path}",
              "hashes": [{"alg": "SHA-256", "content": digest}]}
             for path, digest in sorted(source.files.items())]
    return component(source.name, source.version, LICENSES[source.name][0],
                     f"pkg:deb/debian/{source.name}@{debian}?arch=source",
                     externalReferences=files)


def write(architecture, sources):
    """The document's bytes."""
    if set(sources) != set(LICENSES):
        fail("sources.lock has other libraries than sbom.py has licences of")
    own = f"pkg:pypi/tkbundle@{version()}"
    parts = [of_source(source) for _, source in sorted(sources.items())]
    parts.append(component("compiler_rt", zig_version(), "MIT",
                           f"pkg:pypi/ziglang@{zig_version()}"))
    made = datetime.datetime.fromtimestamp(epoch(), datetime.timezone.utc)
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": made.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application", "bom-ref": own, "name": "tkbundle",
                "version": version(), "purl": own,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
                "properties": [{"name": "tkbundle:architecture",
                                "value": architecture}]},
        },
        "components": parts,
        "dependencies": [
            {"ref": own, "dependsOn": sorted(one["bom-ref"] for one in parts)}],
    }
    text = json.dumps(document, sort_keys=True)
    document["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, text)}"
    return (json.dumps(document, indent=1) + "\n").encode()
