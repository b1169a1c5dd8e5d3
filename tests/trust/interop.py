#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds signatures against another implementation, securesystemslib.

    interop.py PROGRAM

It verifies the envelopes that push makes, and signs statements for which pull then
takes what they are of; what it finds wrong, pull does, too. Prints TAP.
"""

import copy
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time

try:
    from cryptography.hazmat.primitives.serialization import (
        load_pem_private_key, load_pem_public_key)
    from securesystemslib.dsse import Envelope
    from securesystemslib.exceptions import VerificationError
    from securesystemslib.signer import CryptoSigner, SSlibKey
except ImportError as missing:
    print(f"1..0 # SKIP {missing}")
    sys.exit(0)

FIXTURE = os.path.join(os.path.dirname(__file__), "..", "..", "fixtures",
                       "triton-3.6.0-cpu.tar.gz")


class Place:
    """A cache, a key and a remote in a folder of their own."""

    def __init__(self, program, folder, kind):
        self.program = program
        self.folder = folder
        with tarfile.open(FIXTURE) as archive:
            archive.extractall(folder)
        self.tkbundle("key", "new", "key.pem", "--kind", kind)
        self.keyid = json.loads(self.tkbundle("key", "show", "key.pem",
                                              "--json"))["id"]
        with open(self.path("policy"), "w", encoding="utf-8") as policy:
            policy.write("a.key = key.pem.pub\na.publish = model\n")
        os.chmod(policy.name, 0o600)
        self.tkbundle("push", "model", ".triton/cache", "--remote", "remote",
                      "--sign", "key.pem")

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def run(self, *words):
        environment = {**os.environ, "TKBUNDLE_CONFIG": "/dev/null",
                       "HOME": self.folder}
        return subprocess.run([self.program, *words], cwd=self.folder,
                              env=environment, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def tkbundle(self, *words):
        done = self.run(*words)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        return done.stdout

    def envelope(self):
        folder = self.path("remote", "ref", "@signed,model")
        (name,) = os.listdir(folder)
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            return json.load(file)

    def replace(self, envelope):
        """It lies beside the record instead, as whoever writes a remote can do."""
        folder = self.path("remote", "ref", "@signed,model")
        for name in os.listdir(folder):
            os.remove(os.path.join(folder, name))
        text = json.dumps(envelope, sort_keys=True, separators=(",", ":"))
        name = hashlib.sha256(text.encode()).hexdigest()
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def pull(self, root):
        return self.run("pull", "model", root, "--remote", "remote", "--trust",
                        "policy").returncode

    def public_key(self):
        with open(self.path("key.pem.pub"), "rb") as file:
            key = load_pem_public_key(file.read())
        return SSlibKey.from_crypto(key, keyid=self.keyid)

    def signer(self):
        with open(self.path("key.pem"), "rb") as file:
            key = load_pem_private_key(file.read(), None)
        return CryptoSigner(key, self.public_key())

    def sign_with(self, envelope, **predicate):
        """Their signature of a statement that says something else."""
        statement = json.loads(envelope.payload)
        statement["predicate"].update(predicate)
        made = Envelope(json.dumps(statement, indent=1).encode(),
                        envelope.payload_type, {})
        made.sign(self.signer())
        return made.to_dict()


def is_verified(place, envelope):
    try:
        Envelope.from_dict(copy.deepcopy(envelope)).verify(
            [place.public_key()], 1)
    except VerificationError:
        return False
    return True


def checks(program, kind):
    with tempfile.TemporaryDirectory() as folder:
        place = Place(program, folder, kind)
        ours = place.envelope()
        yield f"{kind}: ours is verified by others", is_verified(place, ours)
        changed = copy.deepcopy(ours)
        changed["payload"] = "eyJ" + changed["payload"][3:-8] + "AAAAAAA="
        yield (f"{kind}: one that was changed is verified by nobody",
               not is_verified(place, changed))
        place.replace(changed)
        yield f"{kind}: and refused by us", place.pull("none") == 5

        theirs = Envelope.from_dict(copy.deepcopy(ours))
        theirs.signatures.clear()
        theirs.sign(place.signer())
        place.replace(theirs.to_dict())
        yield f"{kind}: what others sign is pulled", place.pull("warm") == 0
        place.replace(place.sign_with(theirs, stage="prod"))
        yield (f"{kind}: what they sign for another stage is not",
               place.pull("cold") == 5)
        soon = time.time() + 10 * 24 * 60 * 60
        place.replace(place.sign_with(theirs, sequence=1, expires=time.strftime(
            "%Y-%m-%dT%H:%M:%SZ", time.gmtime(soon))))
        done = place.run("pull", "model", "late", "--remote", "remote", "--trust",
                         "policy")
        yield (f"{kind}: a signature that ends soon is used, and that is said",
               done.returncode == 0 and "signed of ref 'model' ends in " in done.stderr)


def main():
    program = os.path.abspath(sys.argv[1])
    failures = 0
    number = 0
    for kind in ("ed25519", "p256"):
        for sentence, is_so in checks(program, kind):
            number += 1
            failures += not is_so
            print(f"{'ok' if is_so else 'not ok'} {number} - {sentence}")
    print(f"1..{number}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
