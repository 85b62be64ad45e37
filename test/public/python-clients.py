"""What the official Python clients see, as one JSON object: only an address and a key are given to them."""

import json
import os

from langchain_openai import ChatOpenAI
from openai import APIError, AuthenticationError, OpenAI

base_url = os.environ["COMPAT_BASE_URL"]
token = os.environ["COMPAT_TOKEN"]
client = OpenAI(base_url=base_url, api_key=token, max_retries=0)
seen = {}

seen["models"] = [model.id for model in client.models.list()]
assistant = client.beta.assistants.list().data[0]
seen["assistant"] = client.beta.assistants.retrieve(assistant.id).model_dump(mode="json")

completion = client.chat.completions.create(
    model="helper", messages=[{"role": "user", "content": "completion"}]
)
seen["completion"] = completion.model_dump(mode="json")

chunks = list(
    client.chat.completions.create(
        model="helper",
        messages=[{"role": "user", "content": "chunks"}],
        stream=True,
        stream_options={"include_usage": True},
    )
)
seen["chunks"] = "".join(
    chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices
)
seen["chunk_usage"] = chunks[-1].usage.total_tokens

thread = client.beta.threads.create(
    messages=[{"role": "user", "content": "thread"}], metadata={"from": "python"}
)
seen["thread"] = client.beta.threads.retrieve(thread.id).model_dump(mode="json")
client.beta.threads.messages.create(thread.id, role="user", content="more")

run = client.beta.threads.runs.create_and_poll(
    thread_id=thread.id, assistant_id=assistant.id, poll_interval_ms=50
)
seen["run"] = client.beta.threads.runs.retrieve(run.id, thread_id=thread.id).model_dump(mode="json")

events = []
text = ""
with client.beta.threads.runs.stream(thread_id=thread.id, assistant_id=assistant.id) as stream:
    for event in stream:
        events.append(event.event)
        if event.event == "thread.message.delta":
            text += event.data.delta.content[0].text.value
seen["events"] = events
seen["streamed"] = text
seen["final"] = stream.get_final_messages()[0].content[0].text.value

seen["said"] = [
    message.content[0].text.value
    for message in client.beta.threads.messages.list(thread.id, order="asc", limit=2)
]
steps = client.beta.threads.runs.steps.list(thread_id=thread.id, run_id=run.id)
seen["steps"] = [step.type for step in steps]

try:
    for _ in client.chat.completions.create(
        model="helper", messages=[{"role": "user", "content": "failure"}], stream=True
    ):
        pass
except APIError as error:
    seen["failure"] = {"message": error.message, "code": error.code}

try:
    OpenAI(base_url=base_url, api_key="wrong", max_retries=0).models.list()
except AuthenticationError as error:
    seen["refusal"] = {"status": error.status_code, "code": error.code, "body": error.body}

chat = ChatOpenAI(model="helper", base_url=base_url, api_key=token, max_retries=0, stream_usage=True)
answer = chat.invoke("langchain")
seen["langchain"] = {"text": answer.text, "usage": answer.usage_metadata["total_tokens"]}
pieces = list(chat.stream("langchain stream"))
seen["langchain_stream"] = "".join(piece.text for piece in pieces)

print(json.dumps(seen))
