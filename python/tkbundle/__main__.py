# SPDX-License-Identifier: Apache-2.0
"""`python -m tkbundle` becomes the program."""

import os
import signal
import sys

from tkbundle import _errors, _program


def main() -> None:
    try:
        path = _program.find()
        for one in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(one, signal.SIG_DFL)  # Python ignores them
        os.execve(path, [_program.NAME, *sys.argv[1:]], _program.variables())
    except (OSError, _errors.Error) as error:
        sys.exit(f"tkbundle: {error}")


if __name__ == "__main__":
    main()
