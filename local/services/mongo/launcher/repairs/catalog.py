"""The catalogue of indexes."""

import threading
from contextlib import contextmanager

from secantus.storage import Storage

# Fault: each statement reads which indexes its collection has from the disk's pages, several times, and a statement that
# inserts many records does so for every one of them.
#
# Repair: what a statement has read once it keeps until it ends, until it begins a transaction of its own, and until it
# changes the catalogue itself.
CHANGES = (
    'create_collection',
    'create_index',
    'drop_index',
    'drop_all_indexes',
    'drop_collection',
    'drop_database',
    'rename_collection',
    'record_collmod',
    'set_index_expiry',
    'set_index_options',
)


class Kept(threading.local):
    # None in threads that are no client's: nothing says where their statements end.
    indexes = None


kept = Kept()


def forget() -> None:
    if kept.indexes:
        kept.indexes = {}


def repair() -> None:
    read_indexes = Storage._iter_indexes
    mark_multikey = Storage._maybe_mark_multikey
    release = Storage.release_thread_snapshot
    batch_transaction = Storage._batch_transaction

    def indexes_of(self, database, collection):
        if kept.indexes is None:
            return read_indexes(self, database, collection)
        found = kept.indexes.get((database, collection))
        if found is None:
            found = list(read_indexes(self, database, collection))
            kept.indexes[database, collection] = found
        return found

    def end_of_statement(self):
        kept.indexes = {}
        return release(self)

    @contextmanager
    def transaction_of_statement(self, *args, **options):
        forget()
        with batch_transaction(self, *args, **options) as session:
            yield session

    def mark(self, database, collection, record, indexes, marked):
        before = len(marked)
        after = mark_multikey(self, database, collection, record, indexes, marked)
        if len(after) != before:
            forget()
        return after

    def changing(change):
        def changed(self, *args, **options):
            forget()
            try:
                return change(self, *args, **options)
            finally:
                forget()

        return changed

    Storage._iter_indexes = indexes_of
    Storage.release_thread_snapshot = end_of_statement
    Storage._batch_transaction = transaction_of_statement
    Storage._maybe_mark_multikey = mark
    for name in CHANGES:
        setattr(Storage, name, changing(getattr(Storage, name)))
