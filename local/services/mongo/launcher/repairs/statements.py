"""What every statement does beside its own work."""

import gc
import threading
import time

from secantus import wire
from secantus.server import SecantusDBServer
from secantus.sessions import SessionRegistry
from secantus.storage import Storage

from . import transactions

# How often sessions are looked through for those that have ended.
PRUNE_SECONDS = 60.0

# Bytes read from a connection at once: most statements, with their header.
RECEIVED_BYTES = 8192

# Objects between two searches for unused cycles. Statements leave none.
OBJECTS_BETWEEN_COLLECTIONS = 50_000


class Received(threading.local):
    # What a thread has read of its connection beyond the message it was asked for.
    connection = None
    rest = b''


received = Received()


def receive(connection, length):
    """
    Fault: header and body of a message are read one after the other, and each time Python's lock is let go and waited
    for.

    Repair: what has arrived is read at once.
    """
    if received.connection is not connection:
        received.connection, received.rest = connection, b''
    parts = [received.rest]
    missing = length - len(received.rest)
    while missing > 0:
        part = connection.recv(max(missing, RECEIVED_BYTES))
        if not part:
            raise wire.ConnectionClosed
        parts.append(part)
        missing -= len(part)
    all_parts = b''.join(parts)
    received.rest = all_parts[length:]
    return all_parts[:length]


def pruning_seldom(prune):
    """Fault: each statement looks through all sessions. Repair: one a minute does."""

    def prune_seldom(self):
        now = time.monotonic()
        if now - getattr(self, '_pruned', 0.0) < PRUNE_SECONDS:
            return 0
        self._pruned = now
        return prune(self)

    return prune_seldom


def remembering_address(address):
    """Fault: each statement asks the system for the server's address. Repair: the first one does."""

    def remembered(self):
        found = getattr(self, '_address', None)
        if found is None:
            found = self._address = address.fget(self)
        return found

    return property(remembered)


class Releases:
    """
    Fault: to give up what it has read, each statement waits for the storage's one lock, only to be sure that the
    storage is not closed meanwhile.

    Repair: closing waits for those that are at it.
    """

    def __init__(self):
        self.running = set()
        self.closing = False

    def without_lock(self, release):
        def release_thread_snapshot(storage):
            thread = threading.get_ident()
            self.running.add(thread)
            try:
                if self.closing:
                    return
                session = getattr(storage._tls, 'session', None)
                if session is None or transactions.is_open(storage):
                    return
                try:
                    session.reset()
                except Exception:
                    release(storage)
            finally:
                self.running.discard(thread)

        return release_thread_snapshot

    def before_closing(self, close):
        def close_alone(storage):
            self.closing = True
            while self.running:
                time.sleep(0.001)
            return close(storage)

        return close_alone


def repair() -> None:
    wire._recv_exactly = receive
    SessionRegistry._prune_locked = pruning_seldom(SessionRegistry._prune_locked)
    SecantusDBServer.address = remembering_address(SecantusDBServer.address)
    releases = Releases()
    Storage.release_thread_snapshot = releases.without_lock(Storage.release_thread_snapshot)
    Storage.close = releases.before_closing(Storage.close)
    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, 20, 20)
