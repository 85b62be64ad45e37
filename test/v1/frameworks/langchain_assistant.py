"""What LangChain's runnable for assistants sees, as one JSON object: only an address and a key are given to it."""

import json
import os

from langchain_classic.agents import AgentExecutor
from langchain_classic.agents.openai_assistant import OpenAIAssistantRunnable
from langchain_core.tools import tool
from openai import OpenAI

client = OpenAI(base_url=os.environ["BASE_URL"], api_key=os.environ["KEY"])
called = []


@tool
def get_weather(city: str) -> str:
    """The weather of a city"""
    called.append(city)
    return "sunny"


def assistant(tools, **options):
    return OpenAIAssistantRunnable.create_assistant(
        name="Weather", instructions="Be brief.", tools=tools, model=os.environ["MODEL"], client=client, **options
    )


plain = assistant([])
first = plain.invoke({"content": "Hello"})
second = plain.invoke({"content": "Hello again", "thread_id": first[0].thread_id})
agent = AgentExecutor(agent=assistant([get_weather], as_agent=True), tools=[get_weather])
asked = agent.invoke({"content": "The weather in Paris?"})
print(
    json.dumps(
        {
            "text": first[0].content[0].text.value,
            "sameThread": second[0].content[0].text.value,
            "tools": {"text": asked["output"], "called": called},
        }
    )
)
