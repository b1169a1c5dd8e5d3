# SPDX-License-Identifier: Apache-2.0
"""A program that uses the package as docs/python.md says. It is not run: packaging/wheels
has mypy read it, with what the wheel has of types."""
from __future__ import annotations

import os
from concurrent.futures import Future
from pathlib import Path
from typing import List, Optional

import tkbundle
import tkbundle.inductor


def share(root: Path, keys: List[str], remote: Optional[str]) -> int:
    with tkbundle.warm("my-model/v1", str(root), remote=remote, wait=1.5,
                       deadline=10, push="on-exit"):
        pass
    with tkbundle.warm("my-model/v1", root, remote=root, push=False):
        pass
    pulled_from: tkbundle.PullReport = tkbundle.pull("a/b", root, root)
    pushed: tkbundle.PushReport = tkbundle.push("a/b", root, remote, keys=keys)
    pulled: tkbundle.PullReport = tkbundle.pull("a/b", root, connections=2)
    made: tkbundle.CollectReport = tkbundle.collect(root, "k.tkb", level=-3)
    emitted: tkbundle.EmitReport = tkbundle.emit("k.tkb", os.fsencode(root))
    with tkbundle.recording(root) as r:
        for key in keys:
            r.put(key, 0)
        r.put_winner(keys[0])
        r.put_launcher("cache key", "name", b"payload", needs=keys, need="any")
        later: Future[tkbundle.CollectReport] = r.collect_later("k.tkb")
    names: List[str] = [one.key for one in later.result(60).results]
    try:
        tkbundle.pull("none", root)
    except tkbundle.Missing as error:
        names.append(f"{error.status}: {error}")
    except tkbundle.Error as error:
        report: object = error.report
        names.append(repr(report))
    tkbundle.inductor.install(remote, artifacts=True)
    hits: int = tkbundle.inductor.report().hits
    return (pushed.pushed + pulled.fetched + made.launchers + emitted.present
            + hits + pulled_from.fetched + len(names) + len(tkbundle.version()))
