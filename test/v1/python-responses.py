"""What the official Python client sees of responses and conversations, as one JSON object."""

import json
import os

from openai import NotFoundError, OpenAI
from pydantic import BaseModel

client = OpenAI(base_url=os.environ["V1_BASE_URL"], api_key=os.environ["V1_TOKEN"], max_retries=0)
seen = {}

first = client.responses.create(model="scripted", input="first")
seen["first"] = first.output_text
seen["read"] = client.responses.retrieve(first.id).output_text
second = client.responses.create(model="scripted", input="second", previous_response_id=first.id)
seen["usage"] = second.usage.model_dump(mode="json")
seen["input"] = [item.content[0].text for item in client.responses.input_items.list(second.id)]

with client.responses.stream(model="scripted", input="streamed") as stream:
    seen["events"] = [event.type for event in stream]
    seen["final"] = stream.get_final_response().output_text


class Place(BaseModel):
    city: str


seen["parsed"] = client.responses.parse(
    model="scripted", input='{"city": "Bonn"}', text_format=Place
).output_parsed.city

background = client.responses.create(model="scripted", input="background", background=True)
seen["background"] = "".join(
    event.delta
    for event in client.responses.retrieve(background.id, stream=True)
    if event.type == "response.output_text.delta"
)
client.responses.delete(first.id)
try:
    client.responses.retrieve(first.id)
except NotFoundError as error:
    seen["gone"] = error.status_code

conversation = client.conversations.create(items=[{"role": "user", "content": "before"}])
client.responses.create(model="scripted", input="after", conversation=conversation.id)
seen["items"] = [
    item.content[0].text for item in client.conversations.items.list(conversation.id, order="asc")
]
seen["deleted"] = client.conversations.delete(conversation.id).deleted

print(json.dumps(seen))
