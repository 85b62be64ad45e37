"""Server-sent events (HTML standard, section 9.2) from bytes as they arrive."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

#: An event is at most a whole thread; more is no stream of this service.
MAX_EVENT_CHARACTERS = 128 * 1024 * 1024

_LINE_END = re.compile("\r\n|\r|\n")


@dataclass(frozen=True)
class Event:
    event: str
    id: str | None
    data: str


class EventParser:
    """Feed it bytes in pieces of any size; it answers the events that are complete."""

    def __init__(self, max_characters: int = MAX_EVENT_CHARACTERS) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._open: list[str] = []
        self._lines: list[str] = []
        self._length = 0
        self._ends_with_return = False
        self._max_characters = max_characters

    def feed(self, data: bytes) -> list[Event]:
        text = self._decoder.decode(data)
        if not text:
            return []
        # The second half of a line end whose first half came with the piece before.
        starts_with_half = self._ends_with_return and text[0] == "\n"
        self._ends_with_return = text[-1] == "\r"
        if starts_with_half:
            text = text[1:]
        # Only the new text is searched, so that a long line costs no more than its length.
        *complete, rest = _LINE_END.split(text)
        events = []
        for line in complete:
            self._count(line)
            line = "".join([*self._open, line])
            self._open = []
            if line:
                self._lines.append(line)
                continue
            event = _event_of(self._lines)
            self._lines = []
            self._length = 0
            if event is not None:
                events.append(event)
        if rest:
            self._count(rest)
            self._open.append(rest)
        return events

    def _count(self, text: str) -> None:
        self._length += len(text)
        if self._length > self._max_characters:
            raise ValueError("an event of the stream is too long")


def _event_of(lines: list[str]) -> Event | None:
    name = "message"
    event_id = None
    data = []
    for line in lines:
        member, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if member == "event":
            name = value
        elif member == "id":
            event_id = value
        elif member == "data":
            data.append(value)
    return Event(name, event_id, "\n".join(data)) if data else None
