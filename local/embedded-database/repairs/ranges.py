"""What an index knows without its records: which ones match, in what order they are, and where they can be deleted."""

from dataclasses import dataclass

import bson

from secantus import storage
from secantus.sortkey import COMPOUND_SEP, encode_value

from .keys import packed_texts

# Entries that are walked through, or deleted, at once.
GROUP = 500

# Options of an index that holds one entry for each record, by the plain values of its fields.
PLAIN_OPTIONS = {'unique', 'entryFormat', 'background', 'v'}

# Types whose equal values, and no others, are the same bytes in an index.
EXACT = (str, bool, bson.ObjectId)


@dataclass
class Ranges:
    """The stretches of an index that hold the entries of exactly the records that match a filter."""

    index: str
    unique: bool
    # The collection has no other index.
    alone: bool
    prefixes: list[bytes]
    # The last field of the index, a value that it does not have in records that match, and the bytes at the end of the
    # entries that may have this value. None if all entries match.
    unlike: tuple | None = None


def ranges_of(self, database, collection, filter, last=None, order=None) -> Ranges | None:
    """
    None for a filter that is not made of texts, truth values and object ids alone (one of them may be an `$in`), for
    the first fields of an index. Entries of such values begin with the same bytes exactly when the values are the
    same. With `last`, the index ends with this field, and has one entry for each record. With `order`, a field and its
    direction, it goes on with this one after those of the filter.
    """
    if not filter or self._is_timeseries(database, collection):
        return None
    indexes = list(self._iter_indexes(database, collection))
    is_multikey = self._multikey_index_names(database, collection).__contains__
    for name, fields, options in indexes:
        first = list(fields)[: len(filter)]
        if set(first) != set(filter) or any(fields[field] != 1 for field in first):
            continue
        if not is_plain(options):
            continue
        if order is not None and order not in list(fields.items())[len(first) : len(first) + 1]:
            continue
        if last is not None and (list(fields.items())[-1] != (last, 1) or last in first or is_multikey(name)):
            continue
        prefixes = prefixes_of([filter[field] for field in first], is_whole=len(first) == len(fields))
        if prefixes is not None:
            return Ranges(name, bool(options.get('unique')), len(indexes) == 1, prefixes)
    return None


def list_of(self, database, collection, filter, order=None) -> Ranges | None:
    """The same for a filter that may also have one `$ne`, for the last field of the index."""
    listed = ranges_of(self, database, collection, filter, order=order)
    if listed is not None:
        return listed
    unlike = [field for field, wanted in filter.items() if type(wanted) is dict and list(wanted) == ['$ne']]
    if len(unlike) != 1 or type(filter[unlike[0]]['$ne']) not in EXACT:
        return None
    rest = {field: wanted for field, wanted in filter.items() if field != unlike[0]}
    listed = ranges_of(self, database, collection, rest, last=unlike[0], order=order)
    if listed is not None:
        value = filter[unlike[0]]['$ne']
        listed.unlike = unlike[0], value, storage._escape_kb(COMPOUND_SEP + encode_value(value))
    return listed


def is_plain(options) -> bool:
    return not any(value for option, value in options.items() if option not in PLAIN_OPTIONS)


def prefixes_of(wanted, *, is_whole):
    keys = [[]]
    for value in wanted:
        choices = value['$in'] if type(value) is dict and list(value) == ['$in'] else [value]
        if type(choices) is not list or any(type(choice) not in EXACT for choice in choices):
            return None
        if len(choices) > 1 and len(keys) > 1:
            return None
        distinct = list(dict.fromkeys(choices))
        keys = [[*key, encode_value(choice)] for key in keys for choice in distinct]
    end = b'' if is_whole else COMPOUND_SEP
    escaped = [storage._escape_kb(COMPOUND_SEP.join(key) + end) for key in keys]
    return [key + storage._ENTRY_SEP for key in escaped] if is_whole else escaped


def entries_from(self, database, collection, index, prefix, start, limit, end=None):
    """Up to `limit` entries that begin with `prefix`, from `start` on, and before `end`."""
    cursor = self._cursor(storage._IDX_ENTRIES_TABLE)
    cursor.set_key(database, collection, index, start)
    place = cursor.search_near()
    found = []
    if place == storage.wt.WT_NOTFOUND or (place < 0 and cursor.next() != 0):
        return found
    # The bytes of the keys, because taking a key apart costs several times as much as going to the next one.
    names = packed_texts(database, collection, index)
    head = names + prefix
    stop = None if end is None else names + end
    while True:
        key = cursor._get_key()
        if not key.startswith(head) or (stop is not None and key >= stop):
            break
        found.append(key[len(names) :])
        if len(found) == limit or cursor.next() != 0:
            break
    cursor.reset()
    return found


def groups_from(self, database, collection, index, prefix, size=GROUP, start=None):
    """All entries that begin with `prefix`, in order, in groups of `size`; with `start`, from there on."""
    start = prefix if start is None else start
    while True:
        found = entries_from(self, database, collection, index, prefix, start, size)
        yield found
        if len(found) < size:
            return
        start = found[-1] + b'\0'


def entries_before(self, database, collection, index, entry, belongs):
    """Those that precede this entry, the nearest first, as long as they belong to it."""
    cursor = self._cursor(storage._IDX_ENTRIES_TABLE)
    cursor.set_key(database, collection, index, entry)
    names = packed_texts(database, collection, index)
    found = []
    if cursor.search() == 0:
        while cursor.prev() == 0 and (key := cursor._get_key()).startswith(names) and belongs(key[len(names) :]):
            found.append(key[len(names) :])
    cursor.reset()
    return found


@storage._retry_write_conflicts
def delete_group(self, database, collection, ranges: Ranges, prefix, *, journal) -> int:
    """Deletes the first records of the range, in one transaction, which sees entries and records as of one moment."""
    with self._coll_lock(database, collection), self._batch_transaction(sync=journal) as session:
        entries = entries_from(self, database, collection, ranges.index, prefix, prefix, GROUP)
        if not entries:
            return 0
        records = self._cursor(storage._doc_table_for(database, collection))
        ids = self._cursor(storage._NAT_SEQ_TABLE)
        claims = self._cursor(storage._UNIQ_TABLE) if ranges.unique else None
        index = self._cursor(storage._IDX_ENTRIES_TABLE)
        for entry in entries:
            value, record = storage._unpack_entry(entry)
            records.set_key(database, collection, record)
            if records.search() == 0:
                id_key, _ = storage._unframe_doc_value(records.get_value())
                records.remove()
                ids.set_key(database, collection, id_key)
                ids.remove()
            if claims is not None:
                claims.set_key(database, collection, ranges.index, value)
                claims.remove()
            index.set_key(database, collection, ranges.index, entry)
            index.remove()
        return len(entries)


def delete(self, database, collection, ranges: Ranges, *, journal) -> int:
    deleted = 0
    for prefix in ranges.prefixes:
        while True:
            group = delete_group(self, database, collection, ranges, prefix, journal=journal)
            deleted += group
            if group < GROUP:
                break
    return deleted
