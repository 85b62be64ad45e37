"""What the official client for Python sees, as one JSON object: only an address and a key are given to it."""

import json
import os

import openai

client = openai.OpenAI(base_url=os.environ["BASE_URL"], api_key=os.environ["KEY"])
seen = {}

file = client.files.create(file=("a.txt", b"Open until five."), purpose="assistants")
seen["content"] = client.files.content(file.id).text
store = client.vector_stores.create(name="Papers")
added = client.vector_stores.files.create_and_poll(file.id, vector_store_id=store.id, poll_interval_ms=200)
seen["file"] = [file.object, added.object, added.status]
found = client.vector_stores.search(store.id, query="Until when is it open?")
seen["found"] = [one.filename for one in found.data]

assistant = client.beta.assistants.create(
    model=os.environ["MODEL"],
    name="Helper",
    instructions="Be brief.",
    tools=[{"type": "file_search"}],
    tool_resources={"file_search": {"vector_store_ids": [store.id]}},
)
changed = client.beta.assistants.update(assistant.id, metadata={"team": "blue"})
seen["assistant"] = [changed.object, changed.name, changed.metadata]
seen["listed"] = [one.name for one in client.beta.assistants.list(limit=1)]

try:
    client.beta.assistants.create(model="m", tools=[{"type": "image_generation"}])
except openai.APIStatusError as error:
    seen["refused"] = [type(error).__name__, error.status_code, error.param, error.code]
seen["deleted"] = [
    client.beta.assistants.delete(assistant.id).deleted,
    client.vector_stores.delete(store.id).deleted,
    client.files.delete(file.id).deleted,
]
print(json.dumps(seen))
