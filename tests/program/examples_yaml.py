#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands out of YAML, for examples_ops.sh.

    examples_yaml.py pods WORK FILE...   containers of Kubernetes' objects
    examples_yaml.py jobs FILE           steps of a workflow of GitHub's

Prints lines "NAME<tab>COMMAND": a container's, with its environment, as a
shell would run it.  What it mounts is a folder below WORK/volumes, and a
Secret's URL is WORK/store, with the mode that the Secret says.  What is amiss
is said on standard error, and makes the exit status 1.  3: no PyYAML.

With TKB_OTHERS, the command is run by the container's user, and volumes are as the
kubelet makes them: for all, and for the group of the pod.  Every container
must have a user, and must not be root.
"""

import os
import re
import shlex
import sys
import urllib.parse

try:
    import yaml
except ImportError:
    sys.exit(3)

FAULTS = []
HAS_OTHERS = bool(os.environ.get("TKB_OTHERS"))


def fault(text):
    FAULTS.append(text)
    print(text, file=sys.stderr)


class StrictLoader(yaml.SafeLoader):
    """One that does not take a name twice."""

    def construct_mapping(self, node, deep=False):
        names = [key.value for key, _ in node.value]
        for name in names:
            if names.count(name) > 1:
                fault(f"'{name}' twice{node.start_mark}")
        return super().construct_mapping(node, deep)


def load(path):
    with open(path, encoding="utf-8") as file:
        return [one for one in yaml.load_all(file, StrictLoader) if one]


def pod_of(thing):
    """A workload's pod, whatever stands around it."""
    spec = thing["spec"]
    while "containers" not in spec:
        spec = spec.get("jobTemplate", spec.get("template"))["spec"]
    return spec


class Pods:
    def __init__(self, work, things):
        self.work = work
        self.secrets = {}
        self.claims = set()
        for thing in things:
            if thing["kind"] == "Secret":
                self.secrets[thing["metadata"]["name"]] = thing["stringData"]
            elif thing["kind"] == "PersistentVolumeClaim":
                self.claims.add(thing["metadata"]["name"])
        for thing in things:
            if thing["kind"] not in ("Secret", "PersistentVolumeClaim"):
                self.tell(thing)

    def tell(self, thing):
        name = thing["metadata"]["name"]
        if thing["kind"] == "Deployment":
            labels = thing["spec"]["template"]["metadata"]["labels"]
            if thing["spec"]["selector"]["matchLabels"] != labels:
                fault(f"{name}: the selector does not match its own pods")
        pod = pod_of(thing)
        context = pod.get("securityContext", {})
        folders = {volume["name"]: self.folder(name, volume, context)
                   for volume in pod.get("volumes", [])}
        used = set()
        for one in pod.get("initContainers", []) + pod["containers"]:
            mounts = {}
            for mount in one.get("volumeMounts", []):
                if mount["name"] not in folders:
                    fault(f"{name}: there is no volume '{mount['name']}'")
                    continue
                used.add(mount["name"])
                mounts[mount["mountPath"]] = folders[mount["name"]]
            identity = {**context, **one.get("securityContext", {})}
            if not identity.get("runAsNonRoot") or \
                    not identity.get("runAsUser"):
                fault(f"{name}/{one['name']} may be root")
            words = self.become(identity) + self.command(one, mounts)
            print(f"{name}/{one['name']}\t{shlex.join(words)}")
        for volume in folders.keys() - used:
            fault(f"{name}: nobody mounts '{volume}'")

    @staticmethod
    def become(identity):
        """Words before a command that is that user's."""
        if not HAS_OTHERS:
            return []
        user = identity.get("runAsUser", 0)
        return ["setpriv", f"--reuid={user}",
                f"--regid={identity.get('runAsGroup', user)}",
                f"--groups={identity.get('fsGroup', user)}"]

    def folder(self, name, volume, context):
        if "hostPath" in volume:
            part = "host" + volume["hostPath"]["path"]
        elif "persistentVolumeClaim" in volume:
            claim = volume["persistentVolumeClaim"]["claimName"]
            if claim not in self.claims:
                fault(f"{name}: nobody claims '{claim}'")
            part = "claim/" + claim
        else:
            part = f"{name}/{volume['name']}"
        path = os.path.join(self.work, "volumes", part)
        os.makedirs(path, exist_ok=True)
        if HAS_OTHERS and "hostPath" in volume:
            os.chown(path, context["runAsUser"], context["runAsGroup"])
        elif HAS_OTHERS:
            os.chown(path, 0, context.get("fsGroup", 0))
            os.chmod(path, 0o2777 if "fsGroup" in context else 0o777)
        return path

    def secret(self, where):
        text = self.secrets.get(where["name"], {}).get(where["key"])
        if text is None:
            fault(f"there is no '{where['key']}' in Secret '{where['name']}'")
            return ""
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(text).query)
        mode = "?mode=ro" if query.get("mode") == ["ro"] else ""
        return f"file://{self.work}/store{mode}"

    def command(self, container, mounts):
        values = {}

        def whole(text):
            text = re.sub(r"\$\((\w+)\)", lambda m: values[m.group(1)], text)
            for path, folder in mounts.items():
                text = re.sub(rf"(?<![\w.]){re.escape(path)}(?=[/?,]|$)",
                              lambda _, at=folder: at, text)
            return text

        for item in container.get("env", []):
            if "valueFrom" in item:
                source = item["valueFrom"]["secretKeyRef"]
                values[item["name"]] = self.secret(source)
            else:
                values[item["name"]] = whole(item["value"])
        words = container.get("command", []) + container.get("args", [])
        for word in words:
            if not isinstance(word, str):
                fault(f"{container['name']}: {word!r} is no text")
            elif re.search(r"://\S*@", word):
                fault(f"{container['name']}: a URL with a password in argv")
        return (["env"]
                + [f"{name}={value}" for name, value in values.items()]
                + [whole(str(word)) for word in words])


def tell_jobs(path):
    [workflow] = load(path)
    for name, job in workflow["jobs"].items():
        for step in job["steps"]:
            if "run" in step:
                print(f"{name}/{step['name']}\t{step['run'].strip()}")


def main():
    if sys.argv[1] == "pods":
        things = [thing for path in sys.argv[3:] for thing in load(path)]
        Pods(sys.argv[2], things)
    else:
        tell_jobs(sys.argv[2])
    return 1 if FAULTS else 0


if __name__ == "__main__":
    sys.exit(main())
