"""Follows runs over connections that break. The loops for threads and for asyncio share everything but their waiting."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import quote

import httpx

from .events import EventParser
from .snapshots import ApiError, RunSnapshot, after

Path = Literal["/runs", "/public/runs"]
StreamMode = Literal["deltas", "messages"]

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 10.0
#: Of a refusal no more is read.
_MAX_REFUSAL_BYTES = 64 * 1024


class Abort:
    """Ends the reading of a run from another thread, at once: also while nothing arrives."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None

    def set(self) -> None:
        with self._lock:
            self._event.set()
            self._shut_down()

    def is_set(self) -> bool:
        return self._event.is_set()

    def wait(self, seconds: float) -> None:
        self._event.wait(seconds)

    def watch(self, response: httpx.Response) -> None:
        stream = response.extensions.get("network_stream")
        with self._lock:
            self._socket = stream.get_extra_info("socket") if stream is not None else None
            if self._event.is_set():
                self._shut_down()

    def forget(self) -> None:
        with self._lock:
            self._socket = None

    def _shut_down(self) -> None:
        if self._socket is not None:
            try:
                self._socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it is closed already


@dataclass
class _Reader:
    """One run and its next request."""

    base_url: str
    path: Path
    token: str | None
    headers: dict[str, str]
    stream_mode: StreamMode
    silence: float
    give_up_after: float
    body: Any | None
    snapshot: RunSnapshot
    failures: int = 0
    lost_at: float = 0.0

    def client_options(self) -> dict[str, Any]:
        timeout = httpx.Timeout(30.0, read=self.silence)
        return {"base_url": self.base_url, "timeout": timeout, "trust_env": False}

    def request(self) -> dict[str, Any]:
        headers = {**self.headers, "accept": "text/event-stream"}
        if self.token is not None:
            headers["authorization"] = f"Bearer {self.token}"
        request: dict[str, Any] = {"headers": headers, "params": {"stream_mode": self.stream_mode}}
        if self.snapshot.run_id == "":
            return {**request, "method": "POST", "url": f"{self.path}/stream", "json": self.body}
        if self.snapshot.last_event_id is not None:
            headers["last-event-id"] = self.snapshot.last_event_id
        return {**request, "method": "GET", "url": f"{self.path}/{quote(self.snapshot.run_id, safe='')}/stream"}

    def take(self, parser: EventParser, data: bytes) -> Iterator[RunSnapshot]:
        for event in parser.feed(data):
            self.snapshot = after(self.snapshot, event)
            self.failures = 0
            self.lost_at = time.monotonic()
            yield self.snapshot
            if not self.is_running:
                return

    def broke(self, error: Exception) -> float:
        """How long to wait before the next attempt. Raises when there is to be none."""
        if isinstance(error, ApiError) and not error.can_retry:
            raise error
        if self.snapshot.run_id == "":
            raise error
        self.failures += 1
        if time.monotonic() - self.lost_at > self.give_up_after:
            raise error
        pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (self.failures - 1)) * random.uniform(0.75, 1.25)
        retry_after = error.retry_after if isinstance(error, ApiError) else None
        return max(pause, min(60.0, retry_after or 0.0))

    @property
    def is_running(self) -> bool:
        return self.snapshot.status == "running"

    def reconnecting(self) -> RunSnapshot:
        return replace(self.snapshot, connection="reconnecting")


class _Closed(Exception):
    """The connection was closed before the run ended."""


_BROKEN = (httpx.TransportError, _Closed, ApiError)


def _reader(
    base_url: str,
    *,
    run_id: str = "",
    body: Any | None = None,
    last_event_id: str | None = None,
    token: str | None = None,
    path: Path = "/runs",
    headers: dict[str, str] | None = None,
    stream_mode: StreamMode = "deltas",
    silence: float = 45.0,
    give_up_after: float = 600.0,
) -> _Reader:
    return _Reader(
        base_url=base_url,
        path=path,
        token=token,
        headers=headers or {},
        stream_mode=stream_mode,
        silence=silence,
        give_up_after=give_up_after,
        body=body,
        snapshot=RunSnapshot(run_id=run_id, last_event_id=last_event_id),
        lost_at=time.monotonic(),
    )


def follow_run(base_url: str, run_id: str, *, abort: Abort | None = None, **options: Any) -> Iterator[RunSnapshot]:
    """Joins a run and yields a snapshot after each event, until the run ends, fails or waits for a decision.

    Options: `token`, `path` (`/public/runs` for runs of public assistants), `headers`, `last_event_id` (continue after
    this event), `stream_mode`, `silence` and `give_up_after` in seconds. Raises `ApiError` for a refusal that another
    try does not change, and the last failure when the connection stays away.
    """
    return _follow(_reader(base_url, run_id=run_id, **options), abort or Abort())


def stream_run(base_url: str, body: Any, *, abort: Abort | None = None, **options: Any) -> Iterator[RunSnapshot]:
    """Starts a run and follows it, in one request. Raises when the connection breaks before the run is named."""
    return _follow(_reader(base_url, body=body, **options), abort or Abort())


def async_follow_run(base_url: str, run_id: str, **options: Any) -> AsyncIterator[RunSnapshot]:
    """As `follow_run`, for asyncio: cancel the task to stop."""
    return _async_follow(_reader(base_url, run_id=run_id, **options))


def async_stream_run(base_url: str, body: Any, **options: Any) -> AsyncIterator[RunSnapshot]:
    """As `stream_run`, for asyncio."""
    return _async_follow(_reader(base_url, body=body, **options))


def _follow(reader: _Reader, abort: Abort) -> Iterator[RunSnapshot]:
    with httpx.Client(**reader.client_options()) as client:
        while reader.is_running and not abort.is_set():
            try:
                with closing(_connection(client, reader, abort)) as snapshots:
                    yield from snapshots
                if reader.is_running:
                    raise _Closed("The connection was closed before the run ended.")
            except _BROKEN as error:
                if abort.is_set():
                    return
                pause = reader.broke(error)
                yield reader.reconnecting()
                abort.wait(pause)


def _connection(client: httpx.Client, reader: _Reader, abort: Abort) -> Iterator[RunSnapshot]:
    with client.stream(**reader.request()) as response:
        try:
            abort.watch(response)
            if response.is_error:
                raise _refusal(response, b"".join(_beginning(response.iter_bytes())))
            parser = EventParser()
            for data in response.iter_bytes():
                if abort.is_set():
                    return
                yield from reader.take(parser, data)
                if not reader.is_running:
                    return
        finally:
            abort.forget()


async def _async_follow(reader: _Reader) -> AsyncIterator[RunSnapshot]:
    async with httpx.AsyncClient(**reader.client_options()) as client:
        while reader.is_running:
            try:
                async with aclosing(_async_connection(client, reader)) as snapshots:
                    async for snapshot in snapshots:
                        yield snapshot
                if reader.is_running:
                    raise _Closed("The connection was closed before the run ended.")
            except _BROKEN as error:
                pause = reader.broke(error)
                yield reader.reconnecting()
                await asyncio.sleep(pause)


async def _async_connection(client: httpx.AsyncClient, reader: _Reader) -> AsyncIterator[RunSnapshot]:
    async with client.stream(**reader.request()) as response:
        if response.is_error:
            said = bytearray()
            async for data in response.aiter_bytes():
                said += data
                if len(said) > _MAX_REFUSAL_BYTES:
                    break
            raise _refusal(response, bytes(said))
        parser = EventParser()
        async for data in response.aiter_bytes():
            for snapshot in reader.take(parser, data):
                yield snapshot
            if not reader.is_running:
                return


def _beginning(pieces: Iterator[bytes]) -> Iterator[bytes]:
    length = 0
    for piece in pieces:
        yield piece
        length += len(piece)
        if length > _MAX_REFUSAL_BYTES:
            return


def _refusal(response: httpx.Response, body: bytes) -> ApiError:
    try:
        detail = json.loads(body)["detail"]
    except (ValueError, KeyError, TypeError):
        detail = f"The service answered {response.status_code}."
    if not isinstance(detail, str):
        detail = "; ".join(f"{'.'.join(map(str, entry['loc']))}: {entry['msg']}" for entry in detail)
    given = response.headers.get("retry-after", "")
    return ApiError(response.status_code, detail, float(given) if given.isdigit() else None)
