"""Which records a filter looks at, before it is checked on each of them."""

from secantus.storage import Storage

from .named import repair

# What may stand beside the fields of a filter and only narrows down what they select.
CONDITIONS = frozenset(('$and', '$or', '$nor', '$expr'))


def with_conditions(lookup):
    """
    Fault: a filter with `$and` beside `_id` goes through the whole collection. findAndModify writes by such a filter,
    so that each of them reads every record there is.

    Repair: the record is looked up by its `_id`. Who looks up checks the whole filter on what is found.
    """

    def lookup_by_id(self, database, collection, filter, **options):
        if filter and '_id' in filter and CONDITIONS.intersection(filter):
            filter = {key: value for key, value in filter.items() if key not in CONDITIONS}
        return lookup(self, database, collection, filter, **options)

    return lookup_by_id


def knowing_existence(implies):
    """
    Fault: an index of the records that have a member is not used for a value of this member, and the whole collection
    is read.

    Repair: a member that equals a text exists.
    """

    def query_implies(query, partial):
        rest = {
            member: condition
            for member, condition in partial.items()
            if not (condition == {'$exists': True} and type(query.get(member)) is str)
        }
        return implies(query, rest)

    return query_implies


@repair('lookup-by-id')
def look_up_by_id() -> None:
    Storage._try_index_id_keys = with_conditions(Storage._try_index_id_keys)


@repair('partial-index-of-texts')
def use_partial_indexes_for_texts() -> None:
    Storage._query_implies_partial = staticmethod(knowing_existence(Storage._query_implies_partial))
