"""Talks to a public assistant with the official openai package, to which only an address and a key are given.

    pip install openai
    eval "$(sh examples/public/open-assistant.sh)"
    python examples/public/chat.py
"""

import os
import sys

from openai import OpenAI

api_url = os.environ.get("API_URL")
token = os.environ.get("PUBLIC_TOKEN")
if not api_url or not token:
    sys.exit("Set API_URL and PUBLIC_TOKEN; examples/public/open-assistant.sh prints both.")
client = OpenAI(base_url=f"{api_url}/public/compat/v1", api_key=token)

print("1. A chat completion, streamed\n")
chunks = client.chat.completions.create(
    model="assistant",
    messages=[{"role": "user", "content": "Hello! Who are you?"}],
    stream=True,
    stream_options={"include_usage": True},
)
for chunk in chunks:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)
    if chunk.usage:
        print(f"\n   ({chunk.usage.total_tokens} tokens)")

print("\n2. A conversation that the service remembers\n")
assistant = client.beta.assistants.list().data[0]
thread = client.beta.threads.create()
for question in ["My name is Ada.", "What is my name?"]:
    print(f"   > {question}")
    client.beta.threads.messages.create(thread.id, role="user", content=question)
    run = client.beta.threads.runs.create_and_poll(
        thread_id=thread.id, assistant_id=assistant.id, poll_interval_ms=200
    )
    if run.status != "completed":
        sys.exit(f"the run is {run.status}: {run.last_error}")
for message in client.beta.threads.messages.list(thread.id, order="asc"):
    print(f"   {message.role}: {message.content[0].text.value}")
