"""Runs the program that is named once for each interface, one after the other: its packages are loaded once."""

import os
import runpy
import sys

for api in ("chat", "responses"):
    os.environ["API"] = api
    runpy.run_path(sys.argv[1], run_name="__main__")
