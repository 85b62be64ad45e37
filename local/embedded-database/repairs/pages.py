"""Pages of sorted lists."""

import datetime
import functools
import threading
from dataclasses import dataclass

from secantus import storage
from secantus.query import matches
from secantus.sortkey import encode_value_directed
from secantus.storage import Storage

from . import lists, ranges, transactions
from .named import repair

# Entries of an index whose records are read at once.
GROUP = 50

# Skipping fewer records than that is not worth it.
FAR = 50

EPOCH = datetime.datetime(1970, 1, 1)
DATE_BYTES = len(encode_value_directed(EPOCH, 1))


@dataclass
class Jump:
    """Where to begin in an index instead of at the first entry of the list, and how many records lie before."""

    index: str
    prefix: bytes
    start: bytes
    over: int


@dataclass
class Wanted:
    sort: dict
    # Number of records with those that are skipped.
    count: int
    # Of the filter.
    variables: dict | None
    jump: Jump | None


class Page(threading.local):
    # None for reads of no page.
    wanted: Wanted | None = None


page = Page()


class NotInOrder(Exception):
    """The list is not in the order of its index."""


def noting_page(find):
    """See `from_index`."""

    @functools.wraps(find)
    def find_page(self, database, collection, filter=None, **options):
        sort, limit, skip = options.get('sort'), options.get('limit', 0), options.get('skip', 0)
        others = ('hint', 'collation', 'min_bound', 'max_bound')
        if not sort or limit <= 0 or any(options.get(option) is not None for option in others):
            return find(self, database, collection, filter, **options)
        jump = jump_over(self, database, collection, filter or {}, sort, skip)
        left = skip - jump.over if jump else skip
        page.wanted = Wanted(sort, left + limit, options.get('let'), jump)
        try:
            return find(self, database, collection, filter, **{**options, 'skip': left})
        except NotInOrder:
            return find(self, database, collection, filter, **options)
        finally:
            page.wanted = None

    return find_page


def jump_over(self, database, collection, filter, sort, skip) -> Jump | None:
    """
    Fault: a page in the middle of a list reads all records before it.

    Repair: where the index alone knows which records match, as many as possible are skipped in it: those that come
    before the first one with the date of the page's first record.
    """
    # In an open transaction, entries are walked through as records are.
    if skip < FAR or transactions.is_open(self) or self._is_timeseries(database, collection):
        return None
    field, direction = next(iter(sort.items()))
    listed = ranges.list_of(self, database, collection, filter, order=(field, direction))
    if listed is None or len(listed.prefixes) != 1:
        return None
    prefix = listed.prefixes[0]
    place = lists.entry_after(self, database, collection, listed, prefix, skip)
    if place is None:
        # Behind all entries.
        return Jump(listed.index, prefix, prefix + b'\xff', skip)
    date = date_of(place, prefix, direction)
    first = ranges.entries_from(self, database, collection, listed.index, prefix, prefix, 1)
    # If the first is a date too, so are all between them.
    if date is None or not first or date_of(first[0], prefix, direction) is None:
        return None
    same = ranges.entries_before(
        self,
        database,
        collection,
        listed.index,
        place,
        lambda entry: entry.startswith(prefix) and date_of(entry, prefix, direction) == date,
    )
    over = skip - len(lists.matching(self, database, collection, listed, same))
    return Jump(listed.index, prefix, same[-1] if same else place, over)


def date_of(entry, prefix, direction):
    """The bytes of the date after the prefix; None for other values."""
    # Each byte may have been escaped by another one.
    value = entry[len(prefix) : len(prefix) + 2 * DATE_BYTES].replace(b'\0\xff', b'\0')[:DATE_BYTES]
    return value if value[:1] == encode_value_directed(EPOCH, direction)[:1] else None


def from_index(lookup):
    """
    Fault: one page of a sorted list costs as much as the whole list, whose records are all read and sorted.

    Repair: if an index holds the list in the order of its first field, and this field holds dates, no more records are
    candidates than the page needs. Who looks them up checks the filter on them, sorts them, and takes the page.
    """

    def lookup_page(self, database, collection, filter, **options):
        wanted, page.wanted = page.wanted, None
        found = wanted and beginning(self, database, collection, filter, wanted)
        if found is None and wanted and wanted.jump:
            raise NotInOrder
        return lookup(self, database, collection, filter, **options) if found is None else found

    return lookup_page


def beginning(self, database, collection, filter, wanted: Wanted):
    """
    The first records of the list after the jump, and those after them that have the same date. None if no index has
    them in order.
    """
    if self._is_timeseries(database, collection):
        return None
    field, direction = next(iter(wanted.sort.items()))
    is_wanted = functools.partial(matches, query=filter, vars=wanted.variables)
    if wanted.jump:
        index, prefix, start = wanted.jump.index, wanted.jump.prefix, wanted.jump.start
        return walk(self, database, collection, index, prefix, start, field, wanted.count, is_wanted)
    multikey = self._multikey_index_names(database, collection)
    for name, fields, options in self._iter_indexes(database, collection):
        if name in multikey or not ranges.is_plain(options):
            continue
        before = list(fields)[: list(fields).index(field)] if field in fields else []
        if not before or any(place not in filter or fields[place] != 1 for place in before):
            continue
        prefixes = ranges.prefixes_of([filter[place] for place in before], is_whole=False)
        if fields[field] == direction and prefixes is not None and len(prefixes) == 1:
            return walk(self, database, collection, name, prefixes[0], None, field, wanted.count, is_wanted)
    return None


def walk(self, database, collection, index, prefix, start, field, count, is_wanted):
    found = []
    for entries in ranges.groups_from(self, database, collection, index, prefix, GROUP, start):
        for record in self._docs_by_recordids(
            database, collection, [storage._unpack_entry(entry)[1] for entry in entries]
        ):
            # Bytes of other values are not always in the order of the values.
            if type(record.get(field)) is not datetime.datetime:
                return None
            if len(found) >= count and record[field] != found[-1][field]:
                return found
            if is_wanted(record):
                found.append(record)
    return found


@repair('pages-by-index')
def read_pages_by_index() -> None:
    Storage._try_index_lookup = from_index(Storage._try_index_lookup)
    Storage.find_matching = noting_page(Storage.find_matching)
