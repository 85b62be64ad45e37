"""Which transactions are open, which are ended because their client is gone, and what they say of conflicts."""

import threading
import time

from secantus import server, storage
from secantus.storage import Storage
from secantus.transactions import TransactionRegistry, TxnState

from .named import repair

# A client that was silent for so long is taken for dead. Its commit fails with the label of a transient error then,
# upon which drivers repeat the transaction.
SILENT_SECONDS = 20.0

# The same when the connection is closed that the last statement came by.
HUNG_UP_SECONDS = 1.0

# How long a transaction that has ended is remembered: a driver may ask again whether its commit was carried out.
REMEMBERED_SECONDS = 120.0


def is_open(storage) -> bool:
    """Whether the thread's statement belongs to a transaction of its client."""
    return getattr(storage._tls, 'user_txn', None) is not None


class Registry(TransactionRegistry):
    """
    Faults: each command of a transaction waits for the running statement of every other transaction, to see whether
    that one's time is over. And only such a command looks: what a dead client wrote last stays locked until then.

    Repair: one thread looks, every second, and waits for nobody.
    """

    def __init__(self, **options):
        super().__init__(**{**options, 'lifetime_seconds': SILENT_SECONDS})
        # By session: the thread of the connection that its last statement came by.
        self._spoke = {}
        threading.Thread(target=self._look_after, daemon=True, name='transactions').start()

    def for_statement(self, lsid_bytes, *args, **options):
        self._spoke[lsid_bytes] = threading.current_thread()
        return super().for_statement(lsid_bytes, *args, **options)

    def _prune_locked(self):
        # Called by every command, with the registry's lock.
        return 0

    def _look_after(self):
        while True:
            time.sleep(1)
            with self._lock:
                known = list(self._txns.items())
            for session, transaction in known:
                self._end_if_abandoned(session, transaction)

    def _end_if_abandoned(self, session, transaction):
        if transaction.state is not TxnState.IN_PROGRESS:
            if self._time() - transaction.last_use > REMEMBERED_SECONDS:
                self._forget(session, transaction)
            return
        # A transaction whose statement is running holds its mutex: it is not abandoned.
        if not transaction.mutex.acquire(blocking=False):
            return
        try:
            connection = self._spoke.get(session)
            hung_up = connection is not None and not connection.is_alive()
            limit = HUNG_UP_SECONDS if hung_up else SILENT_SECONDS
            if transaction.state is TxnState.IN_PROGRESS and self._time() - transaction.last_use > limit:
                self._rollback_quietly(transaction)
                transaction.state = TxnState.ABORTED
                transaction.last_use = self._time()
        finally:
            transaction.mutex.release()

    def _forget(self, session, transaction):
        with self._lock:
            if self._txns.get(session) is transaction:
                del self._txns[session]
                self._spoke.pop(session, None)


@repair('transactions-do-not-wait')
def look_after_transactions() -> None:
    server.TransactionRegistry = Registry


def release_unique_keys(self, database, collection, index, keys, record):
    """
    Fault: an update first releases the unique keys of its record, and ignores the error if another transaction has just
    changed that record. If that one is then aborted, the update goes on, and finds its own key taken (E11000).

    Repair: the error is raised, so that the statement or its transaction is repeated.
    """
    cursor = self._cursor(storage._UNIQ_TABLE)
    for key in keys:
        cursor.reset()
        cursor.set_key(database, collection, index, storage._escape_kb(key))
        if cursor.search() == 0 and cursor.get_value() == record:
            cursor.remove()


@repair('conflicts-are-not-duplicates')
def report_conflicts() -> None:
    Storage._release_unique_keys = release_unique_keys
