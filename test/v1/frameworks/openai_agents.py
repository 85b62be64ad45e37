"""What the OpenAI Agents SDK for Python sees, as one JSON object: only an address and a key are given to it."""

import asyncio
import json
import os

from agents import (
    Agent,
    OpenAIProvider,
    RunConfig,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI
from pydantic import BaseModel

set_tracing_disabled(True)
model = os.environ["MODEL"]
client = AsyncOpenAI(base_url=os.environ["BASE_URL"], api_key=os.environ["KEY"])
config = RunConfig(
    model_provider=OpenAIProvider(openai_client=client, use_responses=os.environ["API"] == "responses")
)
called = []


@function_tool
def get_weather(city: str) -> str:
    """The weather of a city"""
    called.append(city)
    return "sunny"


class Answer(BaseModel):
    city: str
    degrees: int


async def main():
    seen = {}
    helper = Agent(name="Helper", instructions="Be brief.", model=model, tools=[get_weather])
    result = await Runner.run(helper, "The weather in Paris?", run_config=config)
    seen["tools"] = {"text": result.final_output, "called": list(called)}

    called.clear()
    streamed = Runner.run_streamed(helper, "The weather in Paris?", run_config=config)
    text = ""
    async for event in streamed.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            text += event.data.delta
    seen["streamed"] = {"text": text, "final": streamed.final_output, "called": list(called)}

    measuring = Agent(name="Measuring", instructions="Measure.", model=model, output_type=Answer)
    result = await Runner.run(measuring, "How warm is Paris?", run_config=config)
    seen["structured"] = result.final_output.model_dump()

    plain = Agent(name="Plain", instructions="Be brief.", model=model)
    seen["retried"] = (await Runner.run(plain, "cut before agents", run_config=config)).final_output

    # It does not repeat a stream that has begun: the application is told, and asks again.
    async def stream():
        result = Runner.run_streamed(plain, "cut in the middle agents", run_config=config)
        async for _event in result.stream_events():
            pass
        return result.final_output

    try:
        await stream()
        seen["streamCut"] = "no error"
    except Exception:
        seen["streamCut"] = "error"
    seen["askedAgain"] = await stream()
    print(json.dumps(seen))


asyncio.run(main())
