"""Reads that go through many records."""

import threading

import bson

from secantus import commands, storage
from secantus.storage import Storage

from . import lists
from .locks import leave
from .named import repair

# Steps of a read before others have a turn, and how long it leaves them alone for that.
TURN = 250
ASIDE_SECONDS = 0.0002

class Reading(threading.local):
    # The storage that the thread reads from, while it reads.
    storage = None
    steps = 0


reading = Reading()


def step(function):
    """Counts the steps of a read, and from time to time lets go the storage's lock."""

    def counted(*args):
        if reading.storage is not None:
            reading.steps += 1
            if reading.steps % TURN == 0:
                step_aside(reading.storage)
        return function(*args)

    return counted


def step_aside(from_storage) -> None:
    lock = from_storage._lock
    # A part of the read that computes without the lock.
    if not lock._is_owned():
        return
    leave(lock, ASIDE_SECONDS)
    if from_storage._closed:
        raise RuntimeError('the storage was closed while it was read')


def in_turns(read):
    """
    Fault: a read holds the storage's one lock until it has all of its records, so that one of 50,000 keeps everybody
    waiting for seconds.

    Repair: it lets others have a turn now and then. Writes never waited for that lock, so that a read sees no more of
    them than before.
    """

    def read_in_turns(self, *args, **options):
        if reading.storage is not None or self._lock._is_owned():
            return read(self, *args, **options)
        reading.storage = self
        try:
            return read(self, *args, **options)
        finally:
            reading.storage = None

    return read_in_turns


def counting(aggregate):
    """
    Fault: a count reads all that it counts.

    Repair: where an index knows the answer, its entries are counted. Drivers send a count as these two stages.
    """

    def aggregate_or_count(request, context):
        pipeline = request.get('pipeline')
        if (
            type(pipeline) is list
            and len(pipeline) == 2
            and list(pipeline[0]) == ['$match']
            and pipeline[1] == {'$group': {'_id': 1, 'n': {'$sum': 1}}}
            and not any(option in request for option in ('collation', 'hint', 'let', 'explain'))
        ):
            database, collection = context.db_name, request['aggregate']
            context.storage._refresh_read_snapshot()
            number = lists.count(context.storage, database, collection, pipeline[0]['$match'])
            if number is not None:
                batch = [{'_id': 1, 'n': number}] if number else []
                cursor = {'firstBatch': batch, 'id': bson.Int64(0), 'ns': f'{database}.{collection}'}
                return {'cursor': cursor, 'ok': 1.0}
        return aggregate(request, context)

    return aggregate_or_count


@repair('reads-in-turns')
def read_in_turns() -> None:
    storage._unpack_entry = step(storage._unpack_entry)
    storage._unframe_doc_value = step(storage._unframe_doc_value)
    Storage.find_matching = in_turns(Storage.find_matching)
    Storage.count_matching = in_turns(Storage.count_matching)


@repair('counts-by-index')
def count_by_index() -> None:
    commands._HANDLERS['aggregate'] = counting(commands._HANDLERS['aggregate'])
