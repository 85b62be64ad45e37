"""How the storage engine (WiredTiger) is opened."""

from secantus import storage

from .named import repair

# Faults:
# - The commit of a transaction stays in the memory of the process for a moment, whatever write concern it asked for,
#   so that `kill -9` loses the last acknowledged ones.
# - Other journalled writes wait for the disk, each for itself.
#
# Repair: no commit returns before the operating system has its log record. It then survives the death of the process,
# though not that of the machine: what Redis and Temporal promise here, too.
COMMITS = 'transaction_sync=(enabled=true,method=none)'

# Fault: a statement that finds the cache full is made to write out pages of others. It may then wait for a page that an
# open transaction needs, while it holds the lock that this transaction needs to end: everything stands still for good.
#
# Repair: statements never do that work. The engine's own threads do it, and the cache grows past its size until they
# have caught up.
SESSIONS = 'ignore_cache_size=true'


def newest_place(self) -> int:
    """
    Fault: to know which number the next record gets, the start walks through all records of all collections.

    Repair: the numbers of a collection rise, so that its last record has its highest. Only that one is looked at.
    """
    newest = 0
    for shard in range(storage._DOC_SHARDS):
        cursor = self._cursor_optional(storage._doc_shard_name(shard))
        if cursor is None:
            continue
        cursor.reset()
        while cursor.prev() == 0:
            database, collection, place = cursor.get_key()
            newest = max(newest, int(place))
            # On to the collection before this one: to this one's beginning, from which `prev` leads out of it.
            cursor.set_key(database, collection, storage._INT64_MIN)
            if cursor.search_near() < 0:
                cursor.next()
        cursor.reset()
    return newest


@repair('commits-survive-a-kill')
def log_before_the_commit_returns() -> None:
    open_engine = storage.wt.wiredtiger_open
    storage.wt.wiredtiger_open = lambda home, config: open_engine(home, f'{config},{COMMITS}')


@repair('statements-never-evict')
def leave_eviction_to_the_engine() -> None:
    open_session = storage.wt.Connection.open_session

    def open_unburdened_session(self, config=None):
        return open_session(self, f'{config},{SESSIONS}' if config else SESSIONS)

    storage.wt.Connection.open_session = open_unburdened_session


@repair('start-without-reading-all')
def look_at_last_records_only() -> None:
    storage.Storage._scan_max_nat_seq = newest_place
