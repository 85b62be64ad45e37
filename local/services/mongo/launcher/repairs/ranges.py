"""What an index answers alone: which records match, how many there are, and where they can be deleted."""

from dataclasses import dataclass

import bson

from secantus import storage
from secantus.query import matches
from secantus.sortkey import COMPOUND_SEP, encode_value

# Entries that are walked through before others have a turn.
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


def ranges_of(self, database, collection, filter, last=None) -> Ranges | None:
    """
    None for a filter that is not made of texts, truth values and object ids alone (one of them may be an `$in`), for
    the first fields of an index. Entries of such values begin with the same bytes exactly when the values are the
    same. With `last`, the index ends with this field, and has one entry for each record.
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
        if last is not None and (list(fields.items())[-1] != (last, 1) or last in first or is_multikey(name)):
            continue
        prefixes = prefixes_of([filter[field] for field in first], is_whole=len(first) == len(fields))
        if prefixes is not None:
            return Ranges(name, bool(options.get('unique')), len(indexes) == 1, prefixes)
    return None


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


def entries_from(self, database, collection, index, prefix, start, limit):
    """Up to `limit` entries that begin with `prefix`, from `start` on."""
    cursor = self._cursor(storage._IDX_ENTRIES_TABLE)
    cursor.set_key(database, collection, index, start)
    place = cursor.search_near()
    found = []
    if place == storage.wt.WT_NOTFOUND or (place < 0 and cursor.next() != 0):
        return found
    while True:
        at = cursor.get_key()
        if at[2] != index or at[1] != collection or at[0] != database or not at[3].startswith(prefix):
            break
        found.append(at[3])
        if len(found) == limit or cursor.next() != 0:
            break
    cursor.reset()
    return found


def groups_from(self, database, collection, index, prefix, size=GROUP):
    """All entries that begin with `prefix`, in order, in groups of `size`."""
    start = prefix
    while True:
        found = entries_from(self, database, collection, index, prefix, start, size)
        yield found
        if len(found) < size:
            return
        start = found[-1] + b'\0'


def groups_of(self, database, collection, ranges: Ranges):
    for prefix in ranges.prefixes:
        yield from groups_from(self, database, collection, ranges.index, prefix)


def count(self, database, collection, filter) -> int | None:
    """
    None if no index knows the answer. Beside what `ranges_of` takes, the filter may have one `$ne`, for the last field
    of the index.
    """
    ranges = ranges_of(self, database, collection, filter)
    if ranges is not None:
        return sum(len(group) for group in groups_of(self, database, collection, ranges))
    unlike = [field for field, wanted in filter.items() if type(wanted) is dict and list(wanted) == ['$ne']]
    if len(unlike) != 1 or type(filter[unlike[0]]['$ne']) not in EXACT:
        return None
    rest = {field: wanted for field, wanted in filter.items() if field != unlike[0]}
    ranges = ranges_of(self, database, collection, rest, last=unlike[0])
    if ranges is None:
        return None
    # Only entries that end like this may have the value. Their records tell: a number can end with the same bytes.
    end = storage._escape_kb(COMPOUND_SEP + encode_value(filter[unlike[0]]['$ne']))
    total = 0
    for group in groups_of(self, database, collection, ranges):
        unpacked = [storage._unpack_entry(entry) for entry in group if end in entry]
        doubtful = [record for key, record in unpacked if key.endswith(end)]
        records = self._docs_by_recordids(database, collection, doubtful)
        total += len(group) - len(doubtful) + sum(matches(record, filter) for record in records)
    return total


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
