"""Chat completions as the official Python client sees them, as one JSON object: only an address and a key are given to it."""

import base64
import json
import os

from openai import APIStatusError, LengthFinishReasonError, OpenAI
from pydantic import BaseModel

client = OpenAI(base_url=os.environ["V1_BASE_URL"], api_key=os.environ["V1_KEY"], max_retries=0)
model = os.environ["V1_MODEL"]
seen = {}


class Place(BaseModel):
    city: str
    people: int


def ask(text, **more):
    return {"model": model, "messages": [{"role": "user", "content": text}], **more}


stream = client.chat.completions.create(**ask("stream"), stream=True, stream_options={"include_usage": True})
chunks = list(stream)
seen["streamed"] = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
seen["stream_usage"] = chunks[-1].usage.total_tokens

with client.chat.completions.stream(**ask("stream")) as events:
    seen["events"] = [event.type for event in events if event.type.startswith("content")]
    seen["final"] = events.get_final_completion().choices[0].message.content

weather = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
request = ask("tools", tools=[weather], tool_choice="auto", parallel_tool_calls=False)
called = client.chat.completions.create(**request).choices[0]
seen["finish"] = called.finish_reason
call = called.message.tool_calls[0]
seen["call"] = [call.function.name, json.loads(call.function.arguments)]
request["messages"] += [
    called.message.model_dump(exclude_none=True),
    {"role": "tool", "tool_call_id": call.id, "content": "Rain in Bonn"},
]
seen["after_tools"] = client.chat.completions.create(**request).choices[0].message.content

completions = client.chat.completions if hasattr(client.chat.completions, "parse") else client.beta.chat.completions
parsed = completions.parse(**ask("parse"), response_format=Place).choices[0].message.parsed
seen["parsed"] = parsed.model_dump()
try:
    completions.parse(**ask("too long"), response_format=Place)
except LengthFinishReasonError as error:
    seen["cut"] = error.completion.choices[0].finish_reason

png = base64.b64encode(open(os.environ["V1_PICTURE"], "rb").read()).decode()
parts = [
    {"type": "text", "text": "picture"},
    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{png}"}},
]
seen["picture"] = client.chat.completions.create(**ask(parts)).choices[0].message.content

kept = client.chat.completions.create(**ask("keep"), store=True, metadata={"team": "blue"})
seen["kept"] = {
    "listed": [one.id for one in client.chat.completions.list(metadata={"team": "blue"})] == [kept.id],
    "read": client.chat.completions.retrieve(kept.id).choices[0].message.content,
    "messages": [one.content for one in client.chat.completions.messages.list(kept.id)],
    "updated": client.chat.completions.update(kept.id, metadata={"team": "red"}).metadata,
    "deleted": client.chat.completions.delete(kept.id).deleted,
}


def refusal(call):
    try:
        call()
    except APIStatusError as error:
        return {"type": type(error).__name__, "status": error.status_code, "code": error.code, "param": error.param}
    return None


seen["refused"] = [
    refusal(lambda: client.chat.completions.create(**ask("x"), extra_body={"prediction": {"type": "content"}})),
    refusal(lambda: client.chat.completions.create(**ask("x", temperature=3))),
    refusal(lambda: client.chat.completions.create(**{**ask("x"), "model": "unknown"})),
    refusal(lambda: client.chat.completions.retrieve(kept.id)),
    refusal(lambda: client.with_options(api_key="wrong").chat.completions.create(**ask("x"))),
]
print(json.dumps(seen))
