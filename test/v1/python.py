"""What the official Python client sees of a project, as one JSON object: only an address and a key are given to it."""

import hashlib
import io
import json
import os

from openai import APIStatusError, OpenAI

client = OpenAI(base_url=os.environ["V1_BASE_URL"], api_key=os.environ["V1_KEY"], max_retries=0)
seen = {}
text = b"The office is open from nine to five. On Fridays the office closes at three."


def refusal(call):
    try:
        call()
    except APIStatusError as error:
        return {"type": type(error).__name__, "status": error.status_code, "code": error.code, "param": error.param}
    return None


embedding_model = os.environ["V1_EMBEDDING_MODEL"]
seen["models"] = [model.id for model in client.models.list()]
seen["model"] = client.models.retrieve(embedding_model).id
# Without a format the client asks for base64 and decodes it.
decoded = client.embeddings.create(model=embedding_model, input=["one", "two"], dimensions=16)
plain = client.embeddings.create(model=embedding_model, input="one", dimensions=16, encoding_format="float")
seen["embeddings"] = [len(one.embedding) for one in decoded.data]
seen["same_embedding"] = all(
    abs(a - b) < 1e-6 for a, b in zip(decoded.data[0].embedding, plain.data[0].embedding)
)

file = client.files.create(file=("hours.txt", text), purpose="assistants")
seen["file"] = client.files.retrieve(file.id).model_dump(mode="json")
seen["content"] = client.files.content(file.id).read().decode()
seen["files"] = [one.filename for one in client.files.list(purpose="assistants")]

upload = client.uploads.upload_file_chunked(
    file=b"a" * 1000 + b"b" * 1000,
    filename="parts.txt",
    bytes=2000,
    mime_type="text/plain",
    purpose="user_data",
    part_size=1000,
    md5=hashlib.md5(b"a" * 1000 + b"b" * 1000).hexdigest(),
)
seen["upload"] = {"status": upload.status, "bytes": upload.file.bytes, "purpose": upload.file.purpose}
seen["upload_content"] = client.files.content(upload.file.id).read().decode()[998:1002]

store = client.vector_stores.create(
    name="Papers",
    metadata={"team": "blue"},
    expires_after={"anchor": "last_active_at", "days": 7},
)
seen["store"] = {"metadata": store.metadata, "days": store.expires_after.days, "status": store.status}
added = client.vector_stores.files.create_and_poll(
    vector_store_id=store.id,
    file_id=file.id,
    attributes={"year": 2026},
    poll_interval_ms=200,
)
seen["added"] = {"status": added.status, "attributes": added.attributes}
batch = client.vector_stores.file_batches.upload_and_poll(
    vector_store_id=store.id, files=[("rent.txt", io.BytesIO(b"The rent is due on the first day."))]
)
seen["batch"] = batch.file_counts.model_dump(mode="json")
seen["counts"] = client.vector_stores.retrieve(store.id).file_counts.model_dump(mode="json")
found = client.vector_stores.search(
    store.id,
    query=["When does the office close?", "Fridays"],
    filters={"type": "gte", "key": "year", "value": 2020},
)
seen["found"] = [(one.filename, one.attributes, one.content[0].text) for one in found]
seen["chunks"] = [one.text for one in client.vector_stores.files.content(file.id, vector_store_id=store.id)]

assistant = client.beta.assistants.create(
    model="any",
    name="Helper",
    instructions="Be brief.",
    top_p=0.5,
    tools=[
        {"type": "file_search", "file_search": {"max_num_results": 3}},
        {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}},
    ],
    tool_resources={"file_search": {"vector_store_ids": [store.id]}},
    metadata={"kind": "test"},
)
seen["assistant"] = client.beta.assistants.update(assistant.id, description="Helps").model_dump(mode="json")
seen["store_of_assistant"] = assistant.tool_resources.file_search.vector_store_ids == [store.id]
client.beta.assistants.create(model="any", name="Second")
seen["paged"] = [one.name for one in client.beta.assistants.list(limit=1, order="asc")]

seen["refused"] = [
    refusal(lambda: client.beta.assistants.create(model="any", tools=[{"type": "function"}])),
    refusal(lambda: client.files.retrieve("unknown")),
    refusal(lambda: client.vector_stores.create(metadata={"key": "x" * 513})),
    refusal(lambda: client.with_options(api_key="wrong").models.list()),
]
seen["deleted"] = [
    client.vector_stores.files.delete(file.id, vector_store_id=store.id).deleted,
    client.files.delete(file.id).deleted,
    client.vector_stores.delete(store.id).deleted,
    client.beta.assistants.delete(assistant.id).deleted,
]
print(json.dumps(seen))
