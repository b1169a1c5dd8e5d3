#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A cache that one user makes and another writes.

usage: users_test.py PROGRAM [WORDS-OF-A-SENTENCE]

Prints TAP; the exit status is 1 if a test failed. Needs root, or a namespace
in which a user is root and has other users' numbers besides.
"""
import glob
import os
import shutil
import signal
import stat
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                "..", "run"))
import scene  # noqa: E402
from scene import ENTRIES, Skip, equal, need, require, test  # noqa: E402

SERVER = 54321  # a user, and a group, that nobody has
OTHER = 54322
TEAM = 54323  # a group of both
NAMESPACE = ["unshare", "--user", "--map-root-user", "--map-auto"]

PUT = r"""
put() {
	mkdir -p "$1" && mkdir "$1/tmp.pid_$$" && echo "{}" >"$1/tmp.pid_$$/$2" &&
		mv -f "$1/tmp.pid_$$/$2" "$1/$2" && rmdir "$1/tmp.pid_$$"
}
"""
# What Triton does at its first new kernel,
ADD = PUT + r"""
put "$1/$(printf %052d 0 | tr 0 A)" new.json
for file in "$1"/.tkbundle/lock "$1"/.tkbundle/trusted-*; do
	: >>"$file"
done
mkdir "$1/.tkbundle/own" && rmdir "$1/.tkbundle/own"
"""
# and where it replaces a file.
SERVE = PUT + r"""
for group in "$1"/*/__grp__*; do
	put "${group%/*}" "${group##*/}"
done
""" + ADD
# Whatever would have another's code run; each word must fail.
REPLACE = r"""
echo >"$2/code" "its own"
for file in "$1"/*/*; do
	rm -f "$file"; mv -f "$2/code" "$file"; : >>"$file"
done
for entry in "$1"/*/ "$1"/.tkbundle "$1"; do
	mv "${entry%/}" "$2/"
done
"""


def mode_of(*path):
    return stat.S_IMODE(os.lstat(os.path.join(*path)).st_mode)


def owner_of(*path):
    status = os.lstat(os.path.join(*path))
    return status.st_uid, status.st_gid


def own_files(root):
    """All that we have made in a root."""
    return [path for path in glob.glob(root + "/**", recursive=True)
            + glob.glob(root + "/.tkbundle/**", recursive=True)]


class House:
    """Folders of several users, and the program where all can run it."""

    def __init__(self, given):
        self.scene = given
        os.chmod(given.folder, 0o711)
        os.makedirs(given.path("bin"))
        os.chmod(given.path("bin"), 0o755)
        self.program = shutil.copy(given.program, given.path("bin"))
        listed = subprocess.run(["ldd", given.program], check=False,
                                capture_output=True, text=True).stdout
        for line in listed.splitlines():
            words = line.split()
            if "libtkbundle" in line and len(words) > 2:
                shutil.copy(words[2], given.path("bin", words[0]))
                # The program loads the one for remotes from beside it.
                remote = words[0].replace("libtkbundle", "libtkbundle-remote")
                shutil.copy(os.path.join(os.path.dirname(words[2]), remote),
                            given.path("bin", remote))
        self.environment = {**given.environment, "PATH": "/usr/bin:/bin",
                            "LD_LIBRARY_PATH": given.path("bin")}
        self.bundle = self.share("all.tkb")
        given.tkbundle("collect", given.fixture(), "-o", self.bundle)
        self.less = self.share("less.tkb")
        given.tkbundle("collect", given.fixture("again"), "-o", self.less)
        os.chmod(self.bundle, 0o644)

    def share(self, name):
        return self.scene.path("bin", name)

    def folder(self, mode, user=0, group=0, name="volume"):
        path = self.scene.path(name)
        os.makedirs(path)
        os.chown(path, user, group)
        os.chmod(path, mode)
        return path

    def run(self, line, user=0, groups=(), umask=0o022):
        """As `user`, whose group has the same number."""
        identity = {} if user == 0 else {
            "user": user, "group": user, "extra_groups": list(groups)}
        return subprocess.run(
            line, env=self.environment, check=False, text=True, umask=umask,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, cwd="/", timeout=60, **identity)

    def tkbundle(self, *words, status=0, **more):
        ended = self.run([self.program, *words], **more)
        equal(ended.returncode, status, ended.stdout)
        return ended.stdout

    def serve(self, root, *words, user=SERVER, script=SERVE, **more):
        """A server compiles there; returns what it complains of."""
        return self.run(["sh", "-c", script, "sh", root, *words], user=user,
                        **more).stdout

    def check_served(self, root, **more):
        equal(self.serve(root, **more), "")
        for group in glob.glob(os.path.join(root, "*", "__grp__*")):
            os.unlink(group)
        # It can be emitted to, too, and repaired.
        shown = self.tkbundle("emit", self.bundle, root, user=SERVER, **more)
        require("repaired" in shown, shown)
        verified = self.tkbundle("verify", root)
        require(f"verified {ENTRIES} entries" in verified, verified)


@test("what root makes below a folder for all can be written by all", House)
def _(given, house):
    root = os.path.join(house.folder(0o777), "a", "triton")
    house.tkbundle("emit", house.bundle, root)
    equal(mode_of(root, "..") & 0o777, 0o777)
    house.check_served(root)


@test("a pull as root leaves a server what it can write", House)
def _(given, house):
    given.fill()
    root = os.path.join(house.folder(0o777), "triton")
    house.tkbundle("pull", "a/b", root, "--remote", given.remote)
    house.check_served(root)


@test("a run as root leaves a root that a server can write", House)
def _(given, house):
    root = os.path.join(house.folder(0o777), "triton")
    house.tkbundle("run", "--ref", "a/b", "--remote", given.remote, "--wait",
                   "30s", "--cache", root, "--", "true")
    require(mode_of(root) == 0o777, oct(mode_of(root)))
    equal(house.serve(root.replace(".tkbundle", "")).count("Permission"), 0)


@test("a run places no cache in a folder that another user has made", House)
def _(given, house):
    house.environment.update(HOME="/nonexistent", TMPDIR=house.folder(0o1777))
    words = ("run", "--engine", "triton", "--ref", "a/b", "--", "sh", "-c",
             'echo "at $TRITON_CACHE_DIR, $TKBUNDLE_REMOTE"')
    own = given.path("volume", f"tkbundle-{SERVER}")
    shown = house.tkbundle(*words, user=SERVER)
    require(f"at {own}/engines/triton, {own}/engines/remote" in shown, shown)
    equal((mode_of(own), owner_of(own)), (0o700, (SERVER, SERVER)))
    shutil.rmtree(own)
    for make in ("mkdir -m 777 %s", "ln -s /dev/shm %s"):
        equal(house.run(["sh", "-c", make % own], user=OTHER).stdout, "")
        shown = house.tkbundle(*words, user=SERVER)
        require("at , " in shown, shown)
        require("there is no folder for the caches" in shown, shown)
        equal(house.run(["rm", "-r", own], user=OTHER).stdout, "")


@test("a relocate as root leaves what it writes to those of the root", House)
def _(given, house):
    root = given.fixture("moved")
    os.chmod(given.path("moved"), 0o755)
    os.chmod(given.path("moved", ".triton"), 0o755)
    for path in [root, *glob.glob(root + "/**", recursive=True)]:
        os.chown(path, SERVER, SERVER)
        os.chmod(path, 0o700 if os.path.isdir(path) else 0o600)
    house.tkbundle("relocate", root)
    equal({owner_of(path) for path in own_files(root)}, {(SERVER, SERVER)})
    equal(house.serve(root), "")


@test("the folders of Inductor's devices can be written by all, too", House)
def _(given, house):
    top = os.path.join(house.folder(0o777), "inductor")
    house.tkbundle("emit", house.bundle, top, "--layout", "inductor")
    equal([mode_of(top), mode_of(top, "triton")], [0o777, 0o777])
    house.check_served(os.path.join(top, "triton", "0"))


@test("what root makes in a sticky folder can be added to by all", House)
def _(given, house):
    root = os.path.join(house.folder(0o1777), "a", "triton")
    house.tkbundle("emit", house.bundle, root)
    for path in (os.path.dirname(root), *own_files(root)):
        if os.path.isdir(path):
            equal(mode_of(path), 0o1777, path)
    equal(house.serve(root, script=ADD), "")
    # It brings what is missing, and root's next emit is not in its way.
    keys = [key for key in os.listdir(root) if key.isalnum()]
    shutil.rmtree(os.path.join(root, min(keys, key=len)))
    house.tkbundle("emit", house.bundle, root, user=SERVER)
    house.tkbundle("emit", house.less, root)
    require(f"verified {ENTRIES} entries" in house.tkbundle("verify", root),
            "not whole")


@test("what root makes in a sticky folder is replaced by nobody", House)
def _(given, house):
    own = house.folder(0o700, OTHER, OTHER, "own")
    for mode in (0o1777, 0o1770):
        root = os.path.join(house.folder(mode, 0, TEAM, oct(mode)), "triton")
        house.tkbundle("emit", house.bundle, root)
        before = {path: os.lstat(path).st_ino for path in own_files(root)}
        common = os.path.join(root, ".tkbundle", "")
        for path in before:
            require(os.path.isdir(path) or path.startswith(common)
                    or mode_of(path) & 0o022 == 0, path, oct(mode_of(path)))
        house.serve(root, own, user=OTHER, script=REPLACE, groups=[TEAM])
        equal({path: os.lstat(path).st_ino for path in own_files(root)},
              before)
        house.tkbundle("verify", root)


@test("in a sticky folder, what a user makes is his own", House)
def _(given, house):
    root = os.path.join(house.folder(0o1777), "triton")
    house.tkbundle("emit", house.bundle, root, user=SERVER)
    equal(mode_of(root), 0o755)
    for path in own_files(root):
        require(mode_of(path) & 0o022 == 0, path, oct(mode_of(path)))
    require("Permission" in house.serve(root, user=OTHER), "it is open")


@test("a sticky root is written by all, and each entry by its writer", House)
def _(given, house):
    root = house.folder(0o1777)
    keys = sorted(os.listdir(given.path("again", ".triton", "cache")))
    house.tkbundle("emit", house.bundle, root, "--key", keys[0], user=SERVER)
    house.tkbundle("emit", house.bundle, root, user=OTHER)
    equal(mode_of(root, ".tkbundle"), 0o1777)
    equal(sorted(owner_of(root, key)[0] for key in keys),
          [SERVER] + [OTHER] * (len(keys) - 1))
    equal({mode_of(root, key) for key in keys}, {0o755})


@test("below a folder that only its owner writes, the umask counts", House)
def _(given, house):
    parent = house.folder(0o755)
    for umask, mode in ((0o022, 0o755), (0o077, 0o700), (0o002, 0o775)):
        root = os.path.join(parent, oct(umask))
        house.tkbundle("emit", house.bundle, root, umask=umask)
        for path in own_files(root):
            wanted = mode if os.path.isdir(path) else mode & 0o666
            equal((mode_of(path), owner_of(path)), (wanted, (0, 0)), path)


@test("what root makes below a user's folder is that user's", House)
def _(given, house):
    root = os.path.join(house.folder(0o755, SERVER, TEAM), "b", "triton")
    house.tkbundle("emit", house.bundle, root, umask=0o077)
    for path in [os.path.dirname(root), *own_files(root)]:
        equal(owner_of(path), (SERVER, TEAM), path)
        require(mode_of(path) & 0o077 == 0, path, oct(mode_of(path)))
    house.check_served(root)


@test("what root makes below a group's folder is that group's", House)
def _(given, house):
    for mode in (0o770, 0o2775):
        root = os.path.join(house.folder(mode, 0, TEAM, oct(mode)), "triton")
        house.tkbundle("emit", house.bundle, root)
        for path in own_files(root):
            equal(owner_of(path)[1], TEAM, path)
            equal(mode_of(path) & 0o020, 0o020, path)
            equal(mode_of(path) & 0o002, 0, path)
        equal(mode_of(root) & 0o2000, mode & 0o2000)
        house.check_served(root, groups=[TEAM])


@test("a user of a group leaves what others of it can write", House)
def _(given, house):
    parent = house.folder(0o770, 0, TEAM)
    root = os.path.join(parent, "triton")
    house.tkbundle("emit", house.bundle, root, user=OTHER, groups=[TEAM],
                   umask=0o077)
    equal((mode_of(root), owner_of(root)), (0o770, (OTHER, TEAM)))
    equal(house.serve(root, groups=[TEAM]), "")
    house.tkbundle("emit", house.bundle, root, user=SERVER, groups=[TEAM])


@test("the rights of a group are given to no other", House)
def _(given, house):
    root = os.path.join(house.folder(0o773, 0, TEAM), "triton")
    house.tkbundle("emit", house.bundle, root, user=OTHER, umask=0o077)
    equal((mode_of(root), owner_of(root)), (0o733, (OTHER, OTHER)))


@test("an access control list keeps the group's rights to itself")
def _(given):
    need("setfacl")
    house = House(given)
    parent = house.folder(0o755)
    if subprocess.run(["setfacl", "-m", f"u:{SERVER}:rwx", parent],
                      check=False).returncode != 0:
        raise Skip("there are no lists here")
    equal(mode_of(parent), 0o775)
    root = os.path.join(parent, "triton")
    house.tkbundle("emit", house.bundle, root)
    equal(mode_of(root), 0o755)


@test("what is there already is changed in no way", House)
def _(given, house):
    parent = house.folder(0o777)
    root = os.path.join(parent, "triton")
    os.makedirs(os.path.join(root, ".tkbundle"))
    for path in (root, os.path.join(root, ".tkbundle")):
        os.chmod(path, 0o750)
    house.tkbundle("emit", house.bundle, root)
    equal([mode_of(root), mode_of(root, ".tkbundle"), mode_of(parent)],
          [0o750, 0o750, 0o777])
    for path in own_files(root):
        require(mode_of(path) & 0o002 == 0, path, oct(mode_of(path)))


@test("a link in the place of a new folder leads nowhere", House)
def _(given, house):
    parent = house.folder(0o777)
    victim = house.folder(0o700, name="victim")
    os.symlink(victim, os.path.join(parent, ".tkbundle"))
    house.tkbundle("emit", house.bundle, parent, status=1)
    equal((mode_of(victim), os.listdir(victim)), (0o700, []))


@test("a folder of a remote is for those whom the remote is for", House)
def _(given, house):
    remote = house.folder(0o770, 0, TEAM, "remote")
    root = os.path.join(house.folder(0o755), "triton")
    house.tkbundle("emit", house.bundle, root)
    for user, key in ((SERVER, "[A-K]*"), (OTHER, "[L-Z]*")):
        for path in glob.glob(os.path.join(root, key)):
            shutil.rmtree(path)
        house.tkbundle("push", "a/b", root, "--remote", remote, user=user,
                       groups=[TEAM], umask=0o077)
        house.tkbundle("emit", house.bundle, root)
    shown = house.tkbundle("refs", "--remote", remote, user=SERVER, groups=[TEAM])
    require(f" {ENTRIES} " in shown, shown)


@test("the claims of a tier are for all who write it", House)
def _(given, house):
    given.fill()
    os.chmod(given.path("remote"), 0o755)
    node = house.folder(0o770, 0, TEAM, "node")
    for user in (SERVER, OTHER):
        root = house.folder(0o755, user, user, f"of-{user}")
        house.tkbundle("pull", "a/b", os.path.join(root, "triton"),
                       "--remote", f"file://{node},{given.remote}",
                       user=user, groups=[TEAM])
    equal((mode_of(node, "claims"), owner_of(node, "claims")[1]),
          (0o664, TEAM))


@test("two users at once in one root lose nothing, and none is refused", House)
def _(given, house):
    parent = house.folder(0o777)
    for turn in range(5):
        root = os.path.join(parent, f"{turn}", "triton")
        started = [subprocess.Popen(
            [house.program, "emit", house.bundle, root], umask=0o022,
            env=house.environment, cwd="/", text=True, user=user, group=user,
            extra_groups=[], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            for user in (SERVER, OTHER, 0) * 2]
        for each in started:
            said = each.communicate(timeout=60)[0]
            equal(each.returncode, 0, said)
        require(f"verified {ENTRIES} entries" in
                house.tkbundle("verify", root), "not whole")
        equal(os.listdir(os.path.join(root, ".tkbundle")).count("lock"), 1)
        for user in (SERVER, OTHER):
            shutil.rmtree(os.path.join(root, "A" * 52), ignore_errors=True)
            equal(house.serve(root, user=user), "")


def main():
    if os.geteuid() != 0 and "TKB_IN_NAMESPACE" not in os.environ:
        # Without newuidmap, unshare fails and leaves a child that waits.
        probe = subprocess.Popen([*NAMESPACE, "true"], start_new_session=True,
                                 stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        failed = probe.wait() != 0
        try:
            os.killpg(probe.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        if failed:
            print("ok 1 - two users share a cache "
                  "# SKIP neither root nor such a namespace")
            print("1..1")
            return 0
        os.environ["TKB_IN_NAMESPACE"] = "1"
        os.execvp(NAMESPACE[0], [*NAMESPACE, *sys.argv])
    # In a namespace there may be none of these.
    try:
        for user in (SERVER, OTHER, TEAM):
            subprocess.run(["true"], user=user, group=user,
                           extra_groups=[TEAM], cwd="/", check=True)
    except OSError as error:
        print(f"ok 1 - two users share a cache # SKIP no others: {error}")
        print("1..1")
        return 0
    return scene.main()


if __name__ == "__main__":
    sys.exit(main())
