"""Uses the Python client as `argv` says, and prints what it sees: one JSON text a line. Input on stdin stops it."""

import asyncio
import json
import os
import sys
import threading
from dataclasses import asdict

from assistant_platform_client import Abort, ApiError, async_stream_run, follow_run, stream_run
from assistant_platform_client.rest import AuthenticatedClient
from assistant_platform_client.rest.api.assistants import assistants_create
from assistant_platform_client.rest.api.threads import threads_create, threads_list
from assistant_platform_client.rest.models import AssistantPayload, Thread, ThreadPutRequest

BASE_URL = os.environ["BASE_URL"]
OPTIONS = {"token": os.environ["TOKEN"], "silence": float(os.environ.get("SILENCE", "45"))}


def say(value):
    print(json.dumps(value), flush=True)


def body():
    return json.loads(os.environ["BODY"])


def stream():
    for snapshot in stream_run(BASE_URL, body(), **OPTIONS):
        say(asdict(snapshot))


async def stream_async():
    async for snapshot in async_stream_run(BASE_URL, body(), **OPTIONS):
        say(asdict(snapshot))


def aborted():
    abort = Abort()

    def wait():
        sys.stdin.readline()
        abort.set()

    threading.Thread(target=wait, daemon=True).start()
    for snapshot in stream_run(BASE_URL, body(), abort=abort, **OPTIONS):
        say(asdict(snapshot))
    say({"aborted": abort.is_set()})


def refused():
    try:
        next(follow_run(BASE_URL, "no-such-run", **OPTIONS))
    except ApiError as error:
        say({"status": error.status, "detail": str(error)})


def operations():
    client = AuthenticatedClient(base_url=BASE_URL, token=os.environ["TOKEN"])
    assistant = assistants_create.sync(client=client, body=AssistantPayload(name="From Python"))
    thread = threads_create.sync(client=client, body=ThreadPutRequest(name="Snakes"))
    assert isinstance(thread, Thread)
    listed = threads_list.sync(client=client)
    say({"assistant": assistant.name, "threads": [entry.name for entry in listed.threads]})


modes = {
    "stream": stream,
    "async": lambda: asyncio.run(stream_async()),
    "abort": aborted,
    "refused": refused,
    "operations": operations,
}
modes[sys.argv[1]]()
