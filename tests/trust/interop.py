#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds signatures against other implementations.

    interop.py PROGRAM

securesystemslib verifies the envelopes that push makes, and signs statements for which
pull then takes what they are of; what it finds wrong, pull does, too. in-toto-attestation
reads the statements. model-signing and Sigstore's own models read the bundles that sign
--export writes; model-signing verifies them, and writes one that sign --import takes.
Prints TAP.
"""

import copy
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import time
import types

try:
    from cryptography.hazmat.primitives.serialization import (
        load_pem_private_key, load_pem_public_key)
    from securesystemslib.dsse import Envelope
    from securesystemslib.exceptions import VerificationError
    from securesystemslib.signer import CryptoSigner, SSlibKey
    from google.protobuf import json_format
    from in_toto_attestation.v1 import statement_pb2
    from in_toto_attestation.v1.statement import Statement
    from model_signing._signing import sign_ec_key, sign_sigstore_pb
    from sigstore_models.bundle.v1 import Bundle
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

    def envelope(self, ref="@signed,model"):
        folder = self.path("remote", "ref", ref)
        (name,) = os.listdir(folder)
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            return json.load(file)

    def replace(self, envelope, ref="@signed,model"):
        """It lies beside the record instead, as whoever writes a remote can do."""
        folder = self.path("remote", "ref", ref)
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
               done.returncode == 0 and "for ref 'model' expires in " in done.stderr)
        done = place.run("run", "--ref", "model", "--cache", "started", "--remote", "remote",
                         "--trust", "policy", "--push", "never", "--", "true")
        yield (f"{kind}: a run under it says so, too",
               done.returncode == 0 and "emitted 5, starting" in done.stderr
               and "for ref 'model' expires in " in done.stderr)
        yield from lists(place, kind, time.time() + 10 * 24 * 60 * 60)


def lists(place, kind, soon):
    """A list of what is revoked that ends soon, and is still used."""
    end = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(soon))
    words = "the list of what is revoked, by 'a', expires in "
    with open(place.path("policy"), "a", encoding="utf-8") as policy:
        policy.write("a.revoke = yes\n")
    place.tkbundle("revoke", "--remote", "remote", "--sign", "key.pem")
    ours = Envelope.from_dict(place.envelope("@revoked"))
    place.replace(place.sign_with(ours, sequence=1, expires=end), "@revoked")
    for verb in (("pull", "model", "later"), ("verify", "model"),
                 ("run", "--ref", "model", "--cache", "begun", "--push", "never"), ("refs",)):
        done = place.run(*verb, "--remote", "remote", "--trust", "policy",
                         *(["--", "true"] if verb[0] == "run" else []))
        yield (f"{kind}: {verb[0]} says that a list ends soon",
               done.returncode == 0 and words in done.stderr and end in done.stderr)
    yield (f"{kind}: refs shows the list",
           f"revoked by the list of 'a': 0 digests, until {end}\n" in done.stdout)
    done = place.run("refs", "--remote", "remote", "--trust", "policy", "--json")
    yield (f"{kind}: and in the document", json.loads(done.stdout)["lists"] ==
           [{"key": "a", "revoked": 0, "sequence": 1, "expires": end}])


def read_statement(payload):
    statement = json_format.Parse(payload, statement_pb2.Statement())
    Statement.copy_from_pb(statement).validate()
    return statement


def exports(place, folder):
    place.tkbundle("sign", "model", "--remote", "remote", "--key", "key.pem.pub", "--export",
                   folder)
    return [place.path(folder, name) for name in os.listdir(place.path(folder))]


def is_taken_by_model_signing(place, path):
    verifier = sign_ec_key.Verifier(pathlib.Path(place.path("key.pem.pub")))
    try:
        bundle = sign_sigstore_pb.Signature.read(pathlib.Path(path)).bundle
        return verifier._verify_bundle(bundle)[0] == "application/vnd.in-toto+json"
    except Exception as error:  # pylint: disable=broad-exception-caught
        print(f"# {type(error).__name__}: {error}")
        return False


def import_one(place, path, key="key.pem.pub", ref="model"):
    return place.run("sign", ref, "--remote", "remote", "--key", key, "--import",
                     path).returncode


def bundle_checks(program, kind):
    """Bundles of Sigstore's, which model-signing has for keys of ECDSA alone."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place(program, folder, kind)
        (path,) = exports(place, "out")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        ours = json.loads(text)
        bundle = Bundle.from_json(text)
        yield (f"{kind}: what is exported is a bundle to Sigstore's models",
               bundle.media_type == "application/vnd.dev.sigstore.bundle.v0.3+json"
               and is_verified(place, place.envelope()))
        statement = read_statement(bundle.dsse_envelope.payload)
        yield (f"{kind}: its statement is one to in-toto-attestation",
               statement.subject[0].name == "model"
               and statement.predicate_type == "https://tkbundle.dev/record/v1")

        place.replace({"nothing": 1})
        yield f"{kind}: without its envelope, nothing is pulled", place.pull("none") == 5
        place.tkbundle("key", "new", "other.pem")
        yield (f"{kind}: it is not taken as another key's, or of another ref",
               import_one(place, path, key="other.pem.pub") == 5
               and import_one(place, path, ref="none") == 3)
        yield (f"{kind}: what was exported is imported, and pulled",
               import_one(place, path) == 0 and place.pull("warm") == 0)

        lies = 0
        for change in range(0, len(text), 7):
            with open(place.path("lie"), "w", encoding="utf-8") as file:
                file.write(text[:change] + ("A" if text[change] != "A" else "B")
                           + text[change + 1:])
            status = import_one(place, "lie")
            lies += status not in (0, 1, 5)
            if status == 0:  # in what nobody signs: the hint, the name of the key
                with open(place.path("lie"), encoding="utf-8") as file:
                    lie = json.load(file)
                lies += any(lie["dsseEnvelope"][name] != ours["dsseEnvelope"][name]
                            for name in ("payload", "payloadType"))
        yield f"{kind}: no byte of what is signed can be changed", lies == 0
        if kind != "p256":
            return
        yield "model-signing verifies ours", is_taken_by_model_signing(place, path)
        ours["dsseEnvelope"]["payload"] = ours["dsseEnvelope"]["payload"][:-8] + "MSJ9XX0="
        with open(place.path("lie"), "w", encoding="utf-8") as file:
            json.dump(ours, file)
        yield ("and not one that was changed",
               not is_taken_by_model_signing(place, place.path("lie")))
        signer = sign_ec_key.Signer(pathlib.Path(place.path("key.pem")))
        payload = types.SimpleNamespace(statement=types.SimpleNamespace(pb=statement))
        signer.sign(payload).write(pathlib.Path(place.path("theirs")))
        place.replace({"nothing": 1})
        yield ("what model-signing signs is imported, and pulled",
               place.pull("cold") == 5 and import_one(place, "theirs") == 0
               and place.pull("cold") == 0)


def main():
    program = os.path.abspath(sys.argv[1])
    failures = 0
    number = 0
    for kind in ("ed25519", "p256"):
        for sentence, is_so in (*checks(program, kind), *bundle_checks(program, kind)):
            number += 1
            failures += not is_so
            print(f"{'ok' if is_so else 'not ok'} {number} - {sentence}")
    print(f"1..{number}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
