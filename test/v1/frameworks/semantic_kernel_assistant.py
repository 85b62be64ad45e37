"""What Semantic Kernel's assistant agent sees, as one JSON object: only an address and a key are given to it."""

import asyncio
import json
import os
from typing import Annotated

from openai import AsyncOpenAI
from semantic_kernel.agents import OpenAIAssistantAgent
from semantic_kernel.functions import kernel_function

client = AsyncOpenAI(base_url=os.environ["BASE_URL"], api_key=os.environ["KEY"])
called = []


class Weather:
    @kernel_function(name="get_weather", description="The weather of a city")
    def get_weather(self, city: Annotated[str, "The city"]) -> str:
        called.append(city)
        return "sunny"


async def file_search():
    store = await client.vector_stores.create(name="harbour")
    document = ("harbour.txt", b"The harbour opens at nine. Ships pay twelve marks.")
    file = await client.vector_stores.files.upload_and_poll(vector_store_id=store.id, file=document)
    tools, resources = OpenAIAssistantAgent.configure_file_search_tool(vector_store_ids=store.id)
    definition = await client.beta.assistants.create(
        model=os.environ["MODEL"], instructions="Be brief.", tools=tools, tool_resources=resources
    )
    agent = OpenAIAssistantAgent(client=client, definition=definition)
    answer = await agent.get_response(messages="When does the harbour open?")
    await answer.thread.delete()
    await client.vector_stores.delete(store.id)
    await client.files.delete(file.id)
    deleted = await client.beta.assistants.delete(definition.id)
    return {"text": str(answer.content).strip(), "deleted": deleted.deleted}


async def main():
    definition = await client.beta.assistants.create(model=os.environ["MODEL"], instructions="Be brief.")
    agent = OpenAIAssistantAgent(client=client, definition=definition, plugins=[Weather()])
    seen = {}
    answer = await agent.get_response(messages="The weather in Paris?")
    seen["tools"] = {"text": str(answer.content).strip(), "called": list(called)}
    pieces = []
    async for piece in agent.invoke_stream(messages="And now, the weather?", thread=answer.thread):
        pieces.append(str(piece.content))
    seen["streamed"] = {"text": "".join(pieces).strip(), "called": list(called)}
    await answer.thread.delete()
    await client.beta.assistants.delete(definition.id)
    seen["fileSearch"] = await file_search()
    print(json.dumps(seen))


asyncio.run(main())
