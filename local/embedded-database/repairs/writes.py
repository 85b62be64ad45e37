"""Writes to many records outside of transactions."""

from secantus import storage
from secantus.collation import parse as parse_collation
from secantus.storage import Storage

from . import ranges
from .locks import leave
from .named import repair

FIRST_PAUSE_SECONDS = 0.005
LONGEST_PAUSE_SECONDS = 0.02

# Records that are deleted before others have a turn.
GROUP = 500


def patient(write_group):
    """
    Fault: deleteMany and updateMany repeat a write that meets an open transaction, without end, while they hold the
    lock of the collection, which that transaction needs for its next write.

    Repair: the lock is let go between the attempts, each of which reads its records anew.
    """
    once = write_group.__wrapped__

    def attempt(self, database, collection, *args, **options):
        lock = self._coll_lock(database, collection)
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                return once(self, database, collection, *args, **options)
            except (storage.WriteConflictError, storage.wt.WiredTigerError) as error:
                if not isinstance(error, storage.WriteConflictError) and not storage._is_wt_rollback(error):
                    raise
            leave(lock, pause)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    return attempt


def delete_many(self, database, collection, filter, *, let, collation, journal):
    """
    Fault: deleteMany first reads every record that it will delete, with all its bytes, and holds the lock of the
    collection from the first to the last.

    Repair: it first finds out where they are, and then reads and deletes them group by group. A record that ceased to
    match in the meantime is left alone when its group's turn comes. Where the collection's only index knows which
    records match, they need not be read at all.
    """
    rules = parse_collation(collation)
    self._note_write(database, collection)
    self._refresh_read_snapshot()
    known = ranges.ranges_of(self, database, collection, filter) if rules is None and not self.enable_oplog else None
    if known is not None and known.alone:
        return ranges.delete(self, database, collection, known, journal=journal)
    places = self._try_index_id_keys(database, collection, filter) if filter and rules is None else None
    if places is None:
        places = [place for place, _, _ in self._scan_docs(database, collection)]
    places = list(dict.fromkeys(places))
    done = deleted = 0
    while done < len(places):
        with self._coll_lock(database, collection):
            looked_at, gone = self._delete_chunk(
                database,
                collection,
                places[done : done + GROUP],
                filter,
                let=let,
                collation_obj=rules,
                journal=journal,
            )
        done += looked_at
        deleted += gone
    return deleted


@repair('writes-let-transactions-go-on')
def let_go_of_locks_between_attempts() -> None:
    Storage._delete_chunk = patient(Storage._delete_chunk)
    Storage._update_chunk = patient(Storage._update_chunk)


@repair('deletions-in-groups')
def delete_in_groups() -> None:
    Storage._delete_matching_chunked = delete_many
