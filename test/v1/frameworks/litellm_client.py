"""What LiteLLM sees as a client, as one JSON object: only an address and a key are given to it."""

import json
import os

import litellm
from pydantic import BaseModel

litellm.telemetry = False
server = {
    "model": "openai/" + os.environ["MODEL"],
    "api_base": os.environ["BASE_URL"],
    "api_key": os.environ["KEY"],
}
weather = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}


class Answer(BaseModel):
    city: str
    degrees: int


seen = {}
messages = [{"role": "user", "content": "The weather in Paris?"}]
answer = litellm.completion(messages=messages, tools=[weather], **server).choices[0]
[call] = answer.message.tool_calls
seen["reason"] = answer.finish_reason
seen["call"] = {"name": call.function.name, "arguments": json.loads(call.function.arguments)}
messages += [answer.message, {"role": "tool", "tool_call_id": call.id, "content": "sunny"}]
seen["text"] = litellm.completion(messages=messages, tools=[weather], **server).choices[0].message.content

chunks = list(litellm.completion(messages=messages[:1], tools=[weather], stream=True, **server))
[call] = litellm.stream_chunk_builder(chunks).choices[0].message.tool_calls
seen["streamedCall"] = {"name": call.function.name, "arguments": json.loads(call.function.arguments)}
chunks = list(litellm.completion(messages=messages, tools=[weather], stream=True, **server))
seen["streamed"] = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)

# It sends what its caller leaves out as null.
account = {"custom_llm_provider": "openai", "api_base": server["api_base"], "api_key": server["api_key"]}
store = litellm.vector_stores.create(name="Papers", **account)
found = litellm.vector_stores.search(vector_store_id=store["id"], query="hours", **account)
seen["stores"] = {"name": store["name"], "found": len(found["data"])}

question = [{"role": "user", "content": "How warm is Paris?"}]
parsed = litellm.completion(messages=question, response_format=Answer, **server)
seen["structured"] = Answer.model_validate_json(parsed.choices[0].message.content).model_dump()
cut = [{"role": "user", "content": "cut before litellm"}]
seen["retried"] = litellm.completion(messages=cut, num_retries=2, **server).choices[0].message.content


def stream():
    cut = [{"role": "user", "content": "cut in the middle litellm"}]
    chunks = litellm.completion(messages=cut, stream=True, num_retries=2, **server)
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks)


# Its retries do not repeat a stream that has begun: the application is told, and asks again.
try:
    stream()
    seen["streamCut"] = "no error"
except Exception:
    seen["streamCut"] = "error"
seen["askedAgain"] = stream()
print(json.dumps(seen))
