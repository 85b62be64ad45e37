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
    for path, methods in raw_schema["paths"].items():
        if not path.startswith(("/v1/", "/public/compat/v1/")):
            continue
        for operation in methods.values():
            media = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if media is not None:
                media["schema"] = with_nulls(media["schema"], components)


def with_nulls(schema, components):
    """The schema of what is sent to the interface of another vendor, where a member that is null counts as absent.
    Answers keep the components as they are: those of requests are copied."""
    if isinstance(schema, list):
        return [with_nulls(item, components) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        copy = f"Given{name}"
        if copy not in components:
            components[copy] = {}
            components[copy] = with_nulls(components[name], components)
        return {**schema, "$ref": f"#/components/schemas/{copy}"}
    given = {key: with_nulls(value, components) for key, value in schema.items() if key in OF_SCHEMAS}
    if "properties" in schema:
        required = schema.get("required", [])
        members = {name: with_nulls(member, components) for name, member in schema["properties"].items()}
        given["properties"] = {
            name: member if name in required else {"anyOf": [member, {"type": "null"}]}
            for name, member in members.items()
        }
    return {**schema, **given}


OF_SCHEMAS = ("additionalProperties", "allOf", "anyOf", "items", "not", "oneOf")


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
