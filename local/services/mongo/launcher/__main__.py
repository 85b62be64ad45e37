"""Starts SecantusDB, the database of `npm start`, with its faults repaired (see README.md beside this folder).

Usage: python launcher --standalone --host 127.0.0.1 --port 27017 --storage-path FOLDER

Licence. SecantusDB is free software under the GNU General Public Licence, version 2. This launcher is our own work:
it holds no code of SecantusDB, but it runs inside of SecantusDB's process and replaces functions of it there. Each
developer's machine fetches SecantusDB from PyPI for itself, and nobody is given the two together. Whoever wants to
pass on the launcher and SecantusDB as one thing, for example in a container image, has to do so under the terms of
that licence. This is why the image of the service holds neither: it needs a MongoDB server of its own.
"""

import sys
from importlib.metadata import version

# The repairs reach into SecantusDB's internals, so that they fit one version only.
FITS = '0.7.0b3'

if version('SecantusDB') != FITS:
    sys.exit(f'The launcher fits SecantusDB {FITS}, and {version("SecantusDB")} is installed.')

from secantus import cli

from repairs import catalog, engine, keys, lists, lookups, pages, reads, statements, transactions, writes

for part in (engine, keys, statements, catalog, lookups, pages, transactions, writes, lists, reads):
    part.repair()
sys.exit(cli.main())
