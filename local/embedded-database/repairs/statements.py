"""What every statement does beside its own work."""

import threading
import time

from secantus.sessions import SessionRegistry
from secantus.storage import Storage

from . import transactions
from .named import repair

# How often sessions are looked through for those that have ended.
PRUNE_SECONDS = 60.0


@repair('sessions-pruned-seldom')
def prune_sessions_seldom() -> None:
    """Fault: each statement looks through all sessions. Repair: one a minute does."""
    prune = SessionRegistry._prune_locked

    def prune_seldom(self):
        now = time.monotonic()
        if now - getattr(self, '_pruned', 0.0) < PRUNE_SECONDS:
            return 0
        self._pruned = now
        return prune(self)

    SessionRegistry._prune_locked = prune_seldom


class Releases:
    """
    Fault: to give up what it has read, each statement waits for the storage's one lock, only to be sure that the
    storage is not closed meanwhile.

    Repair: closing waits for the statements that are giving up what they have read.
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


@repair('snapshots-released-without-lock')
def release_snapshots_without_lock() -> None:
    releases = Releases()
    Storage.release_thread_snapshot = releases.without_lock(Storage.release_thread_snapshot)
    Storage.close = releases.before_closing(Storage.close)
