"""What Schemathesis cannot know of this API from its description."""

import uuid

import schemathesis

KEY = "idempotency-key"


@schemathesis.hook
def before_load_schema(ctx, raw_schema):
    """OpenAPI 3.1 has no member for the events of a stream; `x-events` links the component of each event's data."""
    for methods in raw_schema["paths"].values():
        for operation in methods.values():
            if "x-events" not in operation:
                continue
            media = operation["responses"]["200"]["content"]["text/event-stream"]
            del media["schema"]
            media["itemSchema"] = {"anyOf": [event_schema(name, data) for name, data in operation["x-events"].items()]}


def event_schema(name, data):
    # `done` is the last line of the compatible streams, which has no name on the wire in one of them.
    names = [name, "message"] if name in ("done", "error") else [name]
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
        "properties": {"event": {"enum": names}, "data": text, "id": {"type": "string"}},
    }


@schemathesis.hook
def before_call(ctx, case, kwargs):
    """A key that was used for another body is refused with 422, so that every valid request gets a key of its own."""
    key = case.headers.get(KEY) if case.headers else None
    if key is not None and is_positive(case):
        case.headers[KEY] = str(uuid.uuid4())


def is_positive(case):
    return case.meta is not None and case.meta.generation.mode.is_positive
