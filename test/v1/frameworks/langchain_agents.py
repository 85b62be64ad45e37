"""What LangChain and LangGraph for Python see, as one JSON object: only an address and a key are given to them."""

import json
import os

from langchain.agents import create_agent
from langchain.agents.structured_output import ProviderStrategy
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from pydantic import BaseModel


def new_chat(**more):
    return ChatOpenAI(
        model=os.environ["MODEL"],
        base_url=os.environ["BASE_URL"],
        api_key=os.environ["KEY"],
        use_responses_api=os.environ["API"] == "responses",
        **more,
    )


called = []


@tool
def get_weather(city: str) -> str:
    """The weather of a city"""
    called.append(city)
    return "sunny"


class Answer(BaseModel):
    city: str
    degrees: int


def seen_of(text):
    found = {"text": text, "called": list(called)}
    called.clear()
    return found


seen = {}
question = {"messages": [{"role": "user", "content": "The weather in Paris?"}]}
agent = create_agent(new_chat(), tools=[get_weather], system_prompt="Be brief.")
seen["tools"] = seen_of(agent.invoke(question)["messages"][-1].text)
pieces = [
    chunk.text
    for chunk, _ in agent.stream(question, stream_mode="messages")
    if chunk.type in ("ai", "AIMessageChunk")
]
seen["streamed"] = seen_of("".join(pieces))

chat = new_chat().bind_tools([get_weather])
graph = StateGraph(MessagesState)
graph.add_node("model", lambda state: {"messages": [chat.invoke(state["messages"])]})
graph.add_node("tools", ToolNode([get_weather]))
graph.add_edge(START, "model")
graph.add_conditional_edges("model", tools_condition)
graph.add_edge("tools", "model")
seen["graph"] = seen_of(graph.compile().invoke(question)["messages"][-1].text)

parsed = new_chat().with_structured_output(Answer, method="json_schema", strict=True)
seen["structured"] = parsed.invoke("Measure.").model_dump()
measuring = create_agent(new_chat(), tools=[], response_format=ProviderStrategy(Answer))
seen["agentStructured"] = measuring.invoke(question)["structured_response"].model_dump()

seen["retried"] = new_chat().invoke("cut before langchain").text
again = new_chat(streaming=True, max_retries=0).with_retry(stop_after_attempt=2, wait_exponential_jitter=False)
seen["streamRetried"] = again.invoke("cut in the middle langchain").text
print(json.dumps(seen))
