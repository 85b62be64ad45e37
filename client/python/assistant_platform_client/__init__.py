"""Client of the assistant platform. `rest` is generated from the API description; the stream reader is here."""

from .events import Event, EventParser
from .follow import Abort, async_follow_run, async_stream_run, follow_run, stream_run
from .snapshots import ApiError, RunSnapshot, fold_messages

__all__ = [
    "Abort",
    "ApiError",
    "Event",
    "EventParser",
    "RunSnapshot",
    "async_follow_run",
    "async_stream_run",
    "fold_messages",
    "follow_run",
    "stream_run",
]
