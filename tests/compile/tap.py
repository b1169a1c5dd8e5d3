# SPDX-License-Identifier: Apache-2.0
"""Prints TAP: a line for each check, and below it what is wrong."""


class Skip(Exception):
    """The check needs what is not there."""


class Tap:
    def __init__(self, count=0):
        self.count, self.failed = count, 0

    def tap(self, sentence, check, *args):
        """What `check` gives is wrong, but for what is empty."""
        self.count += 1
        try:
            faults = [fault for fault in check(self, *args) if fault]
        except Skip as reason:
            print(f"ok {self.count} - {sentence} # SKIP {reason}", flush=True)
            return
        print(f"{'not ok' if faults else 'ok'} {self.count} - {sentence}", flush=True)
        for fault in faults[:20]:
            print("# " + fault.replace("\n", "\n# "), flush=True)
        self.failed += bool(faults)

    def ok(self, is_so, sentence):
        self.tap(sentence, lambda _: () if is_so else ("it is not so",))

    def end(self):
        """The exit status."""
        print(f"1..{self.count}")
        return 1 if self.failed else 0
