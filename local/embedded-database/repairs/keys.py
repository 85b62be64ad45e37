"""How keys of the storage engine are put together and taken apart, which each statement does dozens of times."""

from functools import lru_cache

from wiredtiger import swig_wiredtiger as engine
from wiredtiger.intpacking import pack_int, unpack_int

from .named import repair

# Fault: the engine's Python module goes through the format of a key letter by letter, for each key.
#
# Repair: the formats that SecantusDB uses are read once. `S` is a text that ends with a zero byte, `u` at the end the
# remaining bytes, `q` an integer of variable length.


@lru_cache(maxsize=4096)
def packed_texts(*values: str) -> bytes:
    return b''.join(value.split('\0', 1)[0].encode() + b'\0' for value in values)


@lru_cache(maxsize=None)
def parts_of(format: str):
    """How many texts a format begins with, and what comes after them; None for a format of another form."""
    texts = len(format) - len(format.lstrip('S'))
    rest = format[texts:]
    return (texts, rest) if rest in ('', 'u', 'q') else None


def pack_by(pack_any):
    def pack(format, *values):
        parts = parts_of(format)
        if parts is None or len(values) != len(format):
            return pack_any(format, *values)
        texts, rest = parts
        packed = packed_texts(*values[:texts]) if texts else b''
        if rest == 'u':
            last = values[-1]
            return packed + (last if type(last) is bytes else last[:].encode())
        return packed + pack_int(values[-1]) if rest else packed

    return pack


def unpack_by(unpack_any):
    def unpack(format, packed):
        parts = parts_of(format)
        if parts is None or packed is None:
            return unpack_any(format, packed)
        texts, rest = parts
        pieces = packed.split(b'\0', texts)
        values = [piece.decode() for piece in pieces[:texts]]
        if rest == 'u':
            values.append(pieces[-1])
        elif rest:
            values.append(unpack_int(pieces[-1])[0])
        return values

    return unpack


@repair('key-formats-read-once')
def read_formats_once() -> None:
    engine.pack = pack_by(engine.pack)
    engine.unpack = unpack_by(engine.unpack)
