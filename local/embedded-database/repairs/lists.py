"""Long lists in an index: how many records each part of them has."""

import threading
from bisect import bisect_right

import wiredtiger as wt

from secantus import storage
from secantus.query import matches

from . import ranges, transactions
from .keys import packed_texts
from .named import repair

# Entries of a part. One that has grown to more than twice as many is divided.
PART = 500

# Lists of more entries than that are kept, the ones that were last read.
LONG = 2 * PART
LISTS = 50


class List:
    """Where the parts of a list begin, and how many records of each match; None if that is not known (any more)."""

    def __init__(self, names: bytes, prefix: bytes):
        self.names = names
        self.head = names + prefix
        self.starts = [prefix]
        self.counts = [None]
        # Rises with each change of what is written here.
        self.changes = 0

    def part(self, start):
        """The count of the part that begins here (None also if no part does), and where the next part begins."""
        place = bisect_right(self.starts, start) - 1
        count = self.counts[place] if self.starts[place] == start else None
        return count, self.starts[place + 1] if place + 1 < len(self.starts) else None

    def keep(self, parts):
        """Puts these parts in the place of the one that the first of them begins with."""
        place = bisect_right(self.starts, parts[0][0]) - 1
        if self.starts[place] != parts[0][0]:
            return
        self.starts[place : place + 1] = [start for start, _ in parts]
        self.counts[place : place + 1] = [count for _, count in parts]
        self.changes += 1
        before = self.counts[place - 1] if place else None
        # What deletions have left of two parts becomes one.
        if len(parts) == 1 and before is not None and before + self.counts[place] <= PART:
            self.counts[place - 1] += self.counts[place]
            del self.starts[place], self.counts[place]

    def forget(self, entry):
        self.counts[bisect_right(self.starts, entry) - 1] = None
        self.changes += 1


lock = threading.Lock()
lists: dict[tuple, List] = {}


class Noting:
    # Whether writes are noted. Without that, nothing can be kept.
    writes = False


noting = Noting()


def parts_of(self, database, collection, listed: ranges.Ranges, prefix):
    """
    Where each part of the list begins, and how many of its records match, in order.

    Fault: counting the records of a list, or finding its middle, walks through all of their index entries, each time.

    Repair: the numbers of the parts are kept until an entry of the part has been written. A write is noted when its
    transaction has been committed, and before the client hears of it; what was counted meanwhile is not kept. An open
    transaction sees what others do not, and may have begun long ago: its reads count anew, and keep nothing.
    """
    if not noting.writes or transactions.is_open(self):
        for group in ranges.groups_from(self, database, collection, listed.index, prefix):
            yield prefix, len(matching(self, database, collection, listed, group))
        return

    def entries(start, end=None):
        # Other cursors of the statement may hold an older view.
        self._refresh_read_snapshot()
        return ranges.entries_from(self, database, collection, listed.index, prefix, start, LONG + 1, end)

    def count(some):
        return len(matching(self, database, collection, listed, some))

    names = packed_texts(database, collection, listed.index)
    known = find(names, prefix, listed.unlike)
    if known is None:
        found = entries(prefix)
        if len(found) <= LONG:
            yield prefix, count(found)
            return
        known = begin(names, prefix, listed.unlike)
    start = prefix
    while start is not None:
        with lock:
            number, end = known.part(start)
            changes = known.changes
        if number is None:
            found = entries(start, end)
            if len(found) <= LONG:
                parts = [(start, count(found))]
            else:
                middle, rest = found[PART], found[LONG]
                parts = [(start, count(found[:PART])), (middle, count(found[PART:LONG])), (rest, None)]
                end = middle
            number = parts[0][1]
            with lock:
                if known.changes == changes:
                    known.keep(parts)
        yield start, number
        start = end


def matching(self, database, collection, listed: ranges.Ranges, entries):
    """Those of the list's entries whose records match."""
    if listed.unlike is None:
        return entries
    field, value, end = listed.unlike

    def is_like(entry):
        key, record = storage._unpack_entry(entry)
        # Only entries that end like this may have the value. Their records tell: a number can end with the same bytes.
        if not key.endswith(end):
            return True
        records = self._docs_by_recordids(database, collection, [record])
        return any(matches(found, {field: {'$ne': value}}) for found in records)

    return [entry for entry in entries if end not in entry or is_like(entry)]


def find(*key) -> List | None:
    with lock:
        known = lists.pop(key, None)
        if known is not None:
            lists[key] = known
        return known


def begin(names, prefix, unlike) -> List:
    with lock:
        known = lists.setdefault((names, prefix, unlike), List(names, prefix))
        if len(lists) > LISTS:
            del lists[next(iter(lists))]
        return known


def count(self, database, collection, filter) -> int | None:
    """None if no index knows the answer."""
    listed = ranges.list_of(self, database, collection, filter)
    if listed is None:
        return None
    return sum(number for prefix in listed.prefixes for _, number in parts_of(self, database, collection, listed, prefix))


def entry_after(self, database, collection, listed: ranges.Ranges, prefix, number):
    """The entry of the record that comes after so many matching ones; None at the end of the list."""
    first = prefix
    for start, count in parts_of(self, database, collection, listed, prefix):
        first = start
        if count > number:
            break
        number -= count
    else:
        return None
    for group in ranges.groups_from(self, database, collection, listed.index, prefix, start=first):
        found = matching(self, database, collection, listed, group)
        if len(found) > number:
            return found[number]
        number -= len(found)
    return None


def written(keys):
    with lock:
        for known in lists.values():
            for key in keys:
                if key.startswith(known.head):
                    known.forget(key[len(known.names) :])


class EntryCursor(wt.Cursor):
    """A cursor on the entries of all indexes, which notes what is written by it."""

    def insert(self):
        return self._noting(wt.Cursor.insert)

    def update(self):
        return self._noting(wt.Cursor.update)

    def remove(self):
        return self._noting(wt.Cursor.remove)

    def _noting(self, write):
        key = self._get_key()
        open_writes = self.writer.open_writes
        if open_writes is not None:
            open_writes.append(key)
            return write(self)
        try:
            return write(self)
        finally:
            written([key])


@repair('lists-counted-once')
def keep_counts_of_lists() -> None:
    open_cursor = wt.Session.open_cursor
    begin_transaction = wt.Session.begin_transaction
    commit_transaction = wt.Session.commit_transaction
    rollback_transaction = wt.Session.rollback_transaction

    def open_noting_cursor(self, uri, *options):
        cursor = open_cursor(self, uri, *options)
        if uri == storage._IDX_ENTRIES_TABLE:
            cursor.__class__ = EntryCursor
            cursor.writer = self
        return cursor

    def begin_noting(self, *options):
        result = begin_transaction(self, *options)
        self.open_writes = []
        return result

    def ending(end):
        def end_noting(self, *options):
            try:
                return end(self, *options)
            finally:
                keys, self.open_writes = self.open_writes, None
                if keys:
                    written(keys)

        return end_noting

    noting.writes = True
    # Written outside of a transaction.
    wt.Session.open_writes = None
    wt.Session.open_cursor = open_noting_cursor
    wt.Session.begin_transaction = begin_noting
    wt.Session.commit_transaction = ending(commit_transaction)
    wt.Session.rollback_transaction = ending(rollback_transaction)
