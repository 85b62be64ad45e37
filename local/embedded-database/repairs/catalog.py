"""The catalogue: which collections and indexes there are, with their options."""

import threading
from contextlib import contextmanager

from secantus.storage import Storage

from . import transactions
from .named import repair

# What changes the catalogue.
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
    'set_profile',
    '_write_coll_options',
)


def call_around_changes(forget) -> None:
    """Calls `forget` before each change of the catalogue and after it."""

    def forgetting(change):
        def changed(self, *args, **options):
            forget()
            try:
                return change(self, *args, **options)
            finally:
                forget()

        return changed

    for name in CHANGES:
        setattr(Storage, name, forgetting(getattr(Storage, name)))


class Kept(threading.local):
    # By database and collection. None in threads that serve no client: nothing says where their statements end.
    indexes = None

    def forget(self):
        if self.indexes:
            self.indexes = {}


@repair('indexes-read-once')
def keep_indexes_for_a_statement() -> None:
    """
    Fault: each statement reads several times from the disk's pages which indexes its collection has; one that inserts
    many records does so for every record.

    Repair: a statement keeps what it has read until it ends, until it begins a transaction of its own, and until it
    changes the catalogue itself.
    """
    kept = Kept()
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
        kept.forget()
        with batch_transaction(self, *args, **options) as session:
            yield session

    def mark(self, database, collection, record, indexes, marked):
        before = len(marked)
        after = mark_multikey(self, database, collection, record, indexes, marked)
        if len(after) != before:
            kept.forget()
        return after

    Storage._iter_indexes = indexes_of
    Storage.release_thread_snapshot = end_of_statement
    Storage._batch_transaction = transaction_of_statement
    Storage._maybe_mark_multikey = mark
    call_around_changes(kept.forget)


class Known:
    """What one thread has read, for all threads, until anything of the catalogue changes."""

    options: dict
    profiles: dict

    def __init__(self):
        self.forget()

    def forget(self):
        # New dictionaries: a thread that is reading meanwhile writes into the old ones.
        self.options = {}
        self.profiles = {}


@repair('options-known-to-all')
def keep_options_for_all_statements() -> None:
    """
    Fault: each statement reads several times from the disk's pages which options its collection has and whether its
    database is profiled. Each time it waits for the storage's one lock: half of the time that a statement takes when
    many run at once.

    Repair: all threads know what one of them has read, until anything of the catalogue changes.
    """
    known = Known()
    read_options = Storage.get_collection_options
    read_profile = Storage.get_profile

    def options_of(self, database, collection):
        noted = known.options
        options = noted.get((database, collection))
        if options is None:
            options = read_options(self, database, collection)
            # An open transaction sees collections that others do not, and any statement may create one.
            if options and not transactions.is_open(self):
                noted[database, collection] = options
        return dict(options)

    def profile_of(self, database):
        noted = known.profiles
        profile = noted.get(database)
        if profile is None:
            profile = noted[database] = read_profile(self, database)
        return profile

    Storage.get_collection_options = options_of
    Storage.get_profile = profile_of
    call_around_changes(known.forget)
