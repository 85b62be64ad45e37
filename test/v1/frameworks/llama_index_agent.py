"""What LlamaIndex's OpenAI classes see, as one JSON object: only an address and a key are given to them."""

import asyncio
import json
import os

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai import OpenAI
from pydantic import BaseModel

# A name that the class knows: it looks up the size of the context by it.
llm = OpenAI(
    model=os.environ["MODEL"],
    api_base=os.environ["BASE_URL"],
    api_key=os.environ["KEY"],
)
called = []


def get_weather(city: str) -> str:
    """The weather of a city"""
    called.append(city)
    return "sunny"


class Answer(BaseModel):
    """An answer"""

    city: str
    degrees: int


async def main():
    seen = {}
    tools = [FunctionTool.from_defaults(get_weather)]
    agent = FunctionAgent(tools=tools, llm=llm, system_prompt="Be brief.")
    seen["tools"] = {"text": str(await agent.run("The weather in Paris?")), "called": list(called)}
    chat = [ChatMessage(role="user", content="Hello")]
    seen["streamed"] = "".join(piece.delta or "" for piece in llm.stream_chat(chat))
    seen["structured"] = llm.structured_predict(Answer, PromptTemplate("How warm is Paris?")).model_dump()
    seen["retried"] = str(llm.complete("cut before llama"))

    def stream():
        cut = [ChatMessage(role="user", content="cut in the middle llama")]
        return "".join(piece.delta or "" for piece in llm.stream_chat(cut))

    # It does not repeat a stream that has begun: the application is told, and asks again.
    try:
        stream()
        seen["streamCut"] = "no error"
    except Exception:
        seen["streamCut"] = "error"
    seen["askedAgain"] = stream()
    print(json.dumps(seen))


asyncio.run(main())
