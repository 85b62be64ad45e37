"""What Schemathesis cannot know of this API from its description."""

import uuid

import schemathesis

KEY = "idempotency-key"


@schemathesis.hook
def before_load_schema(ctx, raw_schema):
    """Turns `x-itemSchema` into the `itemSchema` of OpenAPI 3.2, with the data of events as text."""
    components = raw_schema["components"]["schemas"]
    for methods in raw_schema["paths"].values():
        for operation in methods.values():
            media = operation["responses"].get("200", {}).get("content", {}).get("text/event-stream")
            if media is None:
                continue
            del media["schema"]
            stream = components[media.pop("x-itemSchema")["$ref"].rsplit("/", 1)[-1]]
            media["itemSchema"] = {"anyOf": [event_schema(event["properties"]) for event in stream["anyOf"]]}


def event_schema(event):
    data = event["data"]
    title = data["$ref"].rsplit("/", 1)[-1]
    text = {"type": "string"}
    if title == "EndEvent":
        text["const"] = ""
    elif title == "CompatDoneEvent":
        text["const"] = "[DONE]"
    else:
        text |= {"contentMediaType": "application/json", "contentSchema": data}
    return {
        "type": "object",
        "required": ["event", "data"],
        "properties": {"event": event["event"], "data": text, "id": {"type": "string"}},
    }


@schemathesis.hook
def before_call(ctx, case, kwargs):
    """A key that was used for another body is refused with 422, so that every valid request gets a key of its own."""
    key = case.headers.get(KEY) if case.headers else None
    if key is not None and is_positive(case):
        case.headers[KEY] = str(uuid.uuid4())


def is_positive(case):
    return case.meta is not None and case.meta.generation.mode.is_positive
