"""Starts SecantusDB, the embedded database of `npm start`, with its faults repaired (see README.md in this folder).

Usage: python local/embedded-database --standalone --host 127.0.0.1 --port 27017 --storage-path FOLDER

WITHOUT_REPAIRS=name,name leaves out repairs, to see which tests fail then.

Licence. SecantusDB is free software under the GNU General Public Licence, version 2. This launcher is our own work:
it holds no code of SecantusDB, but it runs inside of SecantusDB's process and replaces functions of it there. Each
developer's machine fetches SecantusDB from PyPI for itself, and nobody is given the two together. Whoever wants to
pass on the launcher and SecantusDB as one thing, for example in a container image, has to do so under the terms of
that licence. This is why the image of the service holds neither: it needs a MongoDB server of its own.
"""

import json
import os
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def refuse_other_versions() -> None:
    """The repairs replace internal functions of SecantusDB, so they are right only for versions they were tested with."""
    supported = json.loads((Path(__file__).parent / 'versions.json').read_text())
    try:
        found = version('SecantusDB')
    except PackageNotFoundError:
        found = None
    if found not in supported:
        sys.exit(
            f'The embedded database was not started. Installed is {f"SecantusDB {found}" if found else "no SecantusDB"}, '
            f'but the repairs in local/embedded-database hold only for SecantusDB {", ".join(supported)}. '
            f'Install it in this environment: {sys.executable} -m pip install SecantusDB=={supported[-1]}'
        )


def carry_out_repairs() -> None:
    from repairs import REPAIRS

    left_out = set(filter(None, os.environ.get('WITHOUT_REPAIRS', '').split(',')))
    unknown = left_out - set(REPAIRS)
    if unknown:
        sys.exit(f'WITHOUT_REPAIRS: there is no repair called {", ".join(sorted(unknown))}. Known are {", ".join(REPAIRS)}.')
    for name, carry_out in REPAIRS.items():
        if name not in left_out:
            carry_out()


refuse_other_versions()
carry_out_repairs()

from secantus import cli  # noqa: E402

sys.exit(cli.main())
