"""What LlamaIndex's assistant agent sees, as one JSON object: only an address and a key are given to it."""

import json
import os

os.environ["OPENAI_BASE_URL"] = os.environ["BASE_URL"]
os.environ["OPENAI_API_KEY"] = os.environ["KEY"]

from llama_index.agent.openai import OpenAIAssistantAgent  # noqa: E402
from llama_index.core.tools import FunctionTool  # noqa: E402

called = []


def get_weather(city: str) -> str:
    """The weather of a city"""
    called.append(city)
    return "sunny"


agent = OpenAIAssistantAgent.from_new(
    name="Weather",
    instructions="Be brief.",
    tools=[FunctionTool.from_defaults(get_weather)],
    model=os.environ["MODEL"],
    run_retrieve_sleep_time=0.2,
)
print(json.dumps({"tools": {"text": str(agent.chat("The weather in Paris?")), "called": called}}))
