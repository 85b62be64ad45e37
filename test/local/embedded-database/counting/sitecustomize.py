"""
Python loads this file before any program, when its folder is in PYTHONPATH. It counts what SecantusDB does beneath the
repairs, and answers each connection to COUNTS_PORT of 127.0.0.1 with the counts so far, as JSON.
"""

import functools
import json
import os
import socket
import threading
from collections import Counter

from secantus.sessions import SessionRegistry
from secantus.storage import Storage
from wiredtiger import swig_wiredtiger as engine

counts = Counter()


def counting(name, function):
    @functools.wraps(function)
    def counted(*args, **options):
        counts[name] += 1
        return function(*args, **options)

    return counted


def answer_with_counts():
    listener = socket.create_server(('127.0.0.1', int(os.environ['COUNTS_PORT'])))
    while True:
        connection, _ = listener.accept()
        connection.sendall(json.dumps(counts).encode())
        connection.close()


for method in ('_iter_indexes', 'get_collection_options', 'get_profile', 'release_thread_snapshot'):
    setattr(Storage, method, counting(method, getattr(Storage, method)))
SessionRegistry._prune_locked = counting('_prune_locked', SessionRegistry._prune_locked)
for function in ('pack', 'unpack'):
    setattr(engine, function, counting(function, getattr(engine, function)))
for method in ('next', 'prev', 'search', 'search_near'):
    setattr(engine.Cursor, method, counting('cursor_moves', getattr(engine.Cursor, method)))
threading.Thread(target=answer_with_counts, daemon=True).start()
