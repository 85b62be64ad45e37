"""The catalogue of indexes and collections."""

import threading
from contextlib import contextmanager

from secantus.storage import Storage

from . import transactions

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
    'set_profile',
    '_write_coll_options',
)


class Kept(threading.local):
    # None in threads that are no client's: nothing says where their statements end.
    indexes = None


kept = Kept()


class Known:
    """
    Fault: each statement reads several times from the disk's pages which options its collection has and whether its
    database is profiled, and waits for the storage's one lock each time: half of the time that a statement takes when
    many run at once.

    Repair: all threads know what one of them has read, until anything of the catalogue changes.
    """

    options: dict
    profiles: dict

    def __init__(self):
        self.forget()

    def forget(self):
        # New dictionaries: what is being read meanwhile is noted in the old ones.
        self.options = {}
        self.profiles = {}

    def options_of(self, read):
        def get_collection_options(storage, database, collection):
            noted = self.options
            options = noted.get((database, collection))
            if options is None:
                options = read(storage, database, collection)
                # An open transaction sees collections that others do not, and any statement may make one.
                if options and not transactions.is_open(storage):
                    noted[database, collection] = options
            return dict(options)

        return get_collection_options

    def profile_of(self, read):
        def get_profile(storage, database):
            noted = self.profiles
            profile = noted.get(database)
            if profile is None:
                profile = noted[database] = read(storage, database)
            return profile

        return get_profile


known = Known()


def forget() -> None:
    if kept.indexes:
        kept.indexes = {}


def forget_all() -> None:
    forget()
    known.forget()


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
            forget_all()
            try:
                return change(self, *args, **options)
            finally:
                forget_all()

        return changed

    Storage._iter_indexes = indexes_of
    Storage.release_thread_snapshot = end_of_statement
    Storage._batch_transaction = transaction_of_statement
    Storage._maybe_mark_multikey = mark
    Storage.get_collection_options = known.options_of(Storage.get_collection_options)
    Storage.get_profile = known.profile_of(Storage.get_profile)
    for name in CHANGES:
        setattr(Storage, name, changing(getattr(Storage, name)))
