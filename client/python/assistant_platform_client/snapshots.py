"""What is known of a run: events folded into snapshots."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from .events import Event

#: A message as `docs/events.md` shows it: `{"type": "AIMessage", "data": {"id": ..., "content": ...}}`.
Message = dict[str, Any]


class ApiError(Exception):
    """A refusal of the service, with its own words."""

    def __init__(self, status: int, detail: str, retry_after: float | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.retry_after = retry_after

    @property
    def can_retry(self) -> bool:
        return self.status in (408, 429) or self.status >= 500


@dataclass(frozen=True)
class RunSnapshot:
    """What is known of a run after an event or a change of the connection."""

    run_id: str = ""
    thread_id: str = ""
    #: All that the run has said so far, and the results of its tools.
    messages: list[Message] = field(default_factory=list)
    status: Literal["running", "ended", "failed"] = "running"
    #: Why the run failed: `status_code`, `message`, `type`, `details`.
    error: dict[str, Any] | None = None
    connection: Literal["open", "reconnecting"] = "open"
    last_event_id: str | None = None


def fold_messages(messages: list[Message], changed: list[Message]) -> list[Message]:
    """The messages after some more: a whole one replaces the one with its id or is appended, a delta adds to its text."""
    result = list(messages)
    places = {message["data"]["id"]: place for place, message in enumerate(result)}
    for message in changed:
        place = places.get(message["data"]["id"])
        if message["type"] == "AIMessageDelta":
            # Without its message a delta is passed over: a whole one follows.
            if place is not None:
                known, added = result[place], message["data"]
                data = {**known["data"], "content": known["data"]["content"] + added["content"]}
                if "reasoning" in added:
                    data["reasoning"] = known["data"].get("reasoning", "") + added["reasoning"]
                result[place] = {**known, "data": data}
        elif place is None:
            places[message["data"]["id"]] = len(result)
            result.append(message)
        else:
            result[place] = message
    return result


def after(snapshot: RunSnapshot, event: Event) -> RunSnapshot:
    """The snapshot after an event. Events of unknown names change nothing but the place in the stream."""
    if event.id is not None:
        snapshot = replace(snapshot, last_event_id=event.id)
    snapshot = replace(snapshot, connection="open")
    match event.event:
        case "metadata":
            ids = json.loads(event.data)
            return replace(snapshot, run_id=ids["run_id"], thread_id=ids["thread_id"])
        case "data":
            return replace(snapshot, messages=fold_messages(snapshot.messages, json.loads(event.data)))
        case "end":
            return replace(snapshot, status="ended")
        case "error":
            return replace(snapshot, status="failed", error=json.loads(event.data))
        case _:
            return snapshot
