"""The repairs. Importing a module of this package names its repairs; nothing is replaced before they are carried out."""

from . import engine, keys, statements, catalog, lookups, pages, transactions, writes, lists, reads  # noqa: F401
from .named import REPAIRS  # noqa: F401
