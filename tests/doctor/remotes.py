# SPDX-License-Identifier: Apache-2.0
"""Remotes that doctor has something to say about."""
import os
import shutil

from answers import Answering, serving
from clinic import Clinic, powerless
from scene import files_below, equal, require, silent_server, test


class Published(Clinic):
    """A machine with a cache, and a remote that has all of it."""

    def __init__(self, scene, **machine):
        super().__init__(scene, **machine)
        self.root, self.remote = self.cache(), scene.path("remote")
        self.verb("push", "llama/h100", self.root, "--remote", self.remote)

    def at(self, remote=None, ref="llama/h100", root=None):
        """The words that name a root, a remote and a ref."""
        return root or self.root, "--remote", remote or self.remote, "--ref", ref


def seed(sentence, cause, at=(), machine=(), **names):
    """A test of a ref, or of what is not one: doctor names this cause."""
    @test("remote: " + sentence)
    def _(scene):
        clinic = Published(scene, **dict(machine))
        clinic.names(cause, *clinic.at(**dict(at)), **names)


seed("a ref that is misspelt, and the one that is meant", "ref", {"ref": "lama/h100"},
     verdict=("partly",), what="'llama/h100' has", advice="--ref llama/h100")
seed("a ref that nobody has pushed", "ref", {"ref": "qwen/a100"}, verdict=("partly",),
     advice="tkbundle push qwen/a100")
seed("a ref that is for another GPU alone, and nothing is cached", "target",
     {"root": "empty"}, {"gpus": "10.0:GPU-1:NVIDIA B200"})
seed("a ref that another Triton made, and nothing is cached", "triton", {"root": "empty"},
     {"triton": "3.7.1"}, verdict=("cold",), advice="tkbundle run --ref llama/h100",
     what="made by Triton 3.6.0, and here is 3.7.1")
seed("all of a ref is here, and none of it fits", "ptxas",
     machine={"ptxas": (("12.9", "86"), None)}, verdict=("cold",),
     what="13 entries do not fit, the first since it was made by a ptxas")
seed("one that cannot be reached", "remote", {"remote": "redis://127.0.0.1:1"},
     verdict=("partly",), what="cannot connect", advice="reach the remote")


@test("remote: a folder that is misspelt is told, and not made", Published)
def _(_scene, clinic):
    wrong = clinic.remote + "s"
    document = clinic.names("remote", *clinic.at(wrong), verdict=("partly",),
                            what=f"'{wrong}' does not exist",
                            advice="name the right folder")
    equal(document["remote"]["is_reachable"], False)
    require(not os.path.exists(wrong))


@test("remote: a nearer folder that no pull has made yet is not made", Published)
def _(scene, clinic):
    near = scene.path("near")
    document = clinic.names("remote", *clinic.at(f"{near},{clinic.remote}"), level="risk",
                            verdict=("warm",), what="does not exist yet")
    equal(document["remote"]["entries"], 13)
    require(not os.path.exists(near))


@test("remote: an entry of the ref that is not here is counted, and a pull brings it",
      Published)
def _(_scene, clinic):
    shutil.rmtree(os.path.join(clinic.root, sorted(os.listdir(clinic.root))[-1]))
    clinic.names("not-pulled", *clinic.at(), level="risk", verdict=("warm",),
                 what="1 entry of ref 'llama/h100' is not here",
                 advice="tkbundle pull llama/h100")
    clinic.verb("pull", "llama/h100", clinic.root, "--remote", clinic.remote)
    equal(clinic.is_well(*clinic.at())["remote"]["missing"], 0)


@test("remote: a blob that is gone", Published)
def _(_scene, clinic):
    for name, path in list(files_below(os.path.join(clinic.remote, "cas"))):
        require(name)
        os.remove(path)
    clinic.names("holes", *clinic.at(), verdict=("partly",),
                 advice="tkbundle push llama/h100")
    # A machine without entries is not advised to pull what is gone.
    clinic.names("not-in-bundle", *clinic.at(root="empty"), verdict=("cold",),
                 advice="correct the ref as it says below, then")


@test("remote: it is asked although there is no folder for temporary files", Published)
def _(scene, clinic):
    gone = scene.path("nowhere")
    document = clinic.names("disk", *clinic.at(), level="risk", verdict=("warm",),
                            env={"TMPDIR": gone}, advice="export TMPDIR=",
                            what=f"in '{gone}' (No such file or directory)")
    equal(document["remote"]["entries"], 13)


@test("remote: one that does not answer is given up in time", Published)
def _(_scene, clinic):
    with silent_server() as port:
        clinic.names("remote", *clinic.at(f"redis://127.0.0.1:{port}"), "--wait", "500ms",
                     what="did not answer within 500ms", advice="--wait")


@test("remote: one that may not be written is a risk, and told", Published)
def _(scene, clinic):
    for folder, _, _ in os.walk(clinic.remote):
        os.chmod(folder, 0o555)
    line = powerless(scene, scene.program, "doctor", *clinic.at())
    ended = scene.go(line, env=clinic.environment)
    for folder, _, _ in os.walk(clinic.remote):
        os.chmod(folder, 0o755)
    equal(ended.status, 0, ended.out, ended.err)
    require("risk, rights: what is compiled here cannot be pushed" in ended.out,
            ended.out)
    require("else let this user write the folder" in ended.out, ended.out)


@test("remote: what is tried in it is gone again", Published)
def _(_scene, clinic):
    before = sorted(name for name, _ in files_below(clinic.remote))
    clinic.is_well(*clinic.at())
    equal(sorted(name for name, _ in files_below(clinic.remote)), before)


class Skewed(Answering):
    """A fake S3 that rejects our clock."""

    def refuse(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.answer(403, b"<?xml version='1.0'?><Error><Code>RequestTimeTooSkewed</Code>"
                    b"<Message>The difference between the request time and the "
                    b"current time is too large.</Message></Error>",
                    {"Content-Type": "application/xml"})

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = refuse


@test("remote: a clock that is wrong", Published)
def _(_scene, clinic):
    with serving(Skewed) as server:
        clinic.names("clock", *clinic.at(f"s3://bucket/x?endpoint={server.url}"),
                     advice="clock",
                     env={"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
                          "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI"})


@test("remote: a ref that the policy does not trust, and what is revoked here", Clinic)
def _(scene, clinic):
    root = clinic.cache()
    remote = scene.path("remote")
    key = scene.path("ci.pem")
    policy = scene.path("policy")
    clinic.verb("key", "new", key)
    scene.write(policy, "ci.key = ci.pem.pub\nci.publish = *\nci.revoke = yes\n", 0o600)
    trust = {"TKBUNDLE_TRUST": policy,
             "XDG_STATE_HOME": scene.path("state")}
    named = (root, "--remote", remote, "--ref", "llama/h100")
    clinic.verb("push", "llama/h100", root, "--remote", remote)
    clinic.names("trust", *named, env=trust, what="has no revocation list",
                 advice="tkbundle revoke")
    clinic.verb("revoke", "--remote", remote, "--sign", key)
    clinic.names("trust", *named, env=trust, advice=policy,
                 what="no key of the policy has signed it")
    # A pull comes after that, as it would be refused.
    clinic.names("not-in-bundle", scene.path("none"), *named[1:], env=trust,
                 advice="correct the ref as it says below, then tkbundle pull llama/h100")
    equal([name for name in os.listdir(os.path.join(remote, "ref"))
           if name.startswith("tkbundle-doctor")], ["tkbundle-doctor,scratch"])
    clinic.verb("sign", "llama/h100", "--remote", remote, "--key", key)
    document = clinic.is_well(*named, env=trust)
    equal(document["remote"]["revoked"], 0)
    clinic.verb("pull", "llama/h100", root, "--remote", remote, env=trust)
    clinic.verb("revoke", "--ref", "llama/h100", "--remote", remote,
                "--sign", key)
    document = clinic.names("revoked", *named, env=trust,
                            advice="tkbundle gc --revoked")
    equal(document["remote"]["revoked"], 13)
    clinic.names("trust", *named, env=trust, what="it is revoked",
                 advice="let CI make what replaces it")
    with open(policy, "a", encoding="utf-8") as file:
        file.write("inbox = llama\n")
    clinic.names("trust", *named, env=trust, what="it is in the inbox",
                 advice="tkbundle promote")


@test("remote: what is revoked of a tree counts, too, also if it was just written", Clinic)
def _(scene, clinic):
    root, remote, key = clinic.cache(), scene.path("remote"), scene.path("ci.pem")
    clinic.verb("key", "new", key)
    scene.write("notes/note", "of a tree")
    scene.write("policy", "ci.key = ci.pem.pub\nci.publish = *\nci.revoke = yes\n", 0o600)
    trust = {"TKBUNDLE_TRUST": scene.path("policy"), "XDG_STATE_HOME": scene.path("state")}
    clinic.verb("push", "a/b", root, "--tree", f"notes={scene.path('notes')}", "--remote",
                remote, "--sign", key)
    clinic.verb("revoke", "--remote", remote, "--sign", key)
    here = (scene.path("warm"), "--tree", f"notes={scene.path('here')}", "--remote", remote)
    clinic.verb("pull", "a/b", *here, env=trust)
    clinic.verb("revoke", "--ref", "a/b", "--remote", remote, "--sign", key)
    document = clinic.names("revoked", *here, "--ref", "a/b", env=trust,
                            advice="tkbundle gc --revoked " + here[0])
    equal(document["remote"]["revoked"], 14)


class Unlisted(Answering):
    """A server that has no listing of what it has."""

    def do_GET(self):  # pylint: disable=invalid-name
        self.answer(200, b"<html><body>welcome</body></html>", {"Content-Type": "text/html"})


@test("remote: a server that lists nothing lacks no credentials", Published)
def _(_scene, clinic):
    with serving(Unlisted) as server:
        clinic.names("remote", *clinic.at(server.url + "/x"), what="give it a JSON index",
                     advice="set the server up")
