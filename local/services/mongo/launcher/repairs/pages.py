"""Pages of sorted lists."""

import datetime
import functools
import threading

from secantus import storage
from secantus.query import matches
from secantus.storage import Storage

from . import ranges

# Entries of an index whose records are read at once.
GROUP = 50


class Page(threading.local):
    # Sort, number of records with those that are skipped, and variables of the filter; None for reads of no page.
    wanted = None


page = Page()


def noting_page(find):
    """See `from_index`."""

    @functools.wraps(find)
    def find_page(self, database, collection, filter=None, **options):
        sort, limit = options.get('sort'), options.get('limit', 0)
        others = ('hint', 'collation', 'min_bound', 'max_bound')
        if not sort or limit <= 0 or any(options.get(option) is not None for option in others):
            return find(self, database, collection, filter, **options)
        page.wanted = sort, options.get('skip', 0) + limit, options.get('let')
        try:
            return find(self, database, collection, filter, **options)
        finally:
            page.wanted = None

    return find_page


def from_index(lookup):
    """
    Fault: one page of a sorted list costs as much as the whole list, whose records are all read and sorted.

    Repair: if an index holds the list in the order of its first field, and this field holds dates, no more records are
    candidates than the page needs. Who looks them up checks the filter on them, sorts them, and takes the page.
    """

    def lookup_page(self, database, collection, filter, **options):
        wanted, page.wanted = page.wanted, None
        found = wanted and beginning(self, database, collection, filter, *wanted)
        return lookup(self, database, collection, filter, **options) if found is None else found

    return lookup_page


def beginning(self, database, collection, filter, sort, count, variables):
    """
    The first `count` records of the list, and those after them that have the same date. None if no index has them in
    order.
    """
    if self._is_timeseries(database, collection):
        return None
    field, direction = next(iter(sort.items()))
    multikey = self._multikey_index_names(database, collection)
    for name, fields, options in self._iter_indexes(database, collection):
        if name in multikey or not ranges.is_plain(options):
            continue
        before = list(fields)[: list(fields).index(field)] if field in fields else []
        if not before or any(place not in filter or fields[place] != 1 for place in before):
            continue
        prefixes = ranges.prefixes_of([filter[place] for place in before], is_whole=False)
        if fields[field] == direction and prefixes is not None and len(prefixes) == 1:
            is_wanted = functools.partial(matches, query=filter, vars=variables)
            return walk(self, database, collection, name, prefixes[0], field, count, is_wanted)
    return None


def walk(self, database, collection, index, prefix, field, count, is_wanted):
    found = []
    for entries in ranges.groups_from(self, database, collection, index, prefix, GROUP):
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


def repair() -> None:
    Storage._try_index_lookup = from_index(Storage._try_index_lookup)
    Storage.find_matching = noting_page(Storage.find_matching)
