"""What the official client for Python sees of threads and runs, as one JSON object."""

import json
import os

import openai

client = openai.OpenAI(base_url=os.environ["BASE_URL"], api_key=os.environ["KEY"])
threads = client.beta.threads
seen = {}

weather = {
    "name": "get_weather",
    "description": "The weather of a city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
assistant = client.beta.assistants.create(
    model=os.environ["MODEL"], tools=[{"type": "function", "function": weather}]
)
thread = threads.create(messages=[{"role": "user", "content": "The weather in Paris?"}])
waiting = threads.runs.create_and_poll(thread_id=thread.id, assistant_id=assistant.id, poll_interval_ms=50)
[call] = waiting.required_action.submit_tool_outputs.tool_calls
seen["waiting"] = [waiting.status, call.function.name, json.loads(call.function.arguments)]
done = threads.runs.submit_tool_outputs_and_poll(
    run_id=waiting.id,
    thread_id=thread.id,
    tool_outputs=[{"tool_call_id": call.id, "output": "sunny"}],
    poll_interval_ms=50,
)
seen["done"] = done.status

threads.messages.create(thread.id, role="user", content="And now?")
with threads.runs.stream(thread_id=thread.id, assistant_id=assistant.id) as stream:
    stream.until_done()
    stopped = stream.current_run
    [told] = [call for step in stream.get_final_run_steps() for call in step.step_details.tool_calls]
    seen["told"] = [told.id == stopped.required_action.submit_tool_outputs.tool_calls[0].id, told.function.arguments]
[again] = stopped.required_action.submit_tool_outputs.tool_calls
with threads.runs.submit_tool_outputs_stream(
    run_id=stopped.id,
    thread_id=thread.id,
    tool_outputs=[{"tool_call_id": again.id, "output": "rainy"}],
) as stream:
    text = "".join(stream.text_deltas)
    seen["streamed"] = [stopped.status, stream.current_run.status, text]

seen["said"] = [
    f"{message.role}: {message.content[0].text.value}"
    for message in threads.messages.list(thread.id, order="asc", limit=2)
]
steps = threads.runs.steps.list(run_id=done.id, thread_id=thread.id, order="asc")
seen["steps"] = [step.type for step in steps]
file = client.files.create(file=("a.txt", b"Open until five."), purpose="assistants")
asked = threads.create(
    messages=[
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Until when?"},
                {"type": "image_url", "image_url": {"url": os.environ["PICTURE"]}},
            ],
            "attachments": [{"file_id": file.id, "tools": [{"type": "file_search"}]}],
        }
    ]
)
[shown] = threads.messages.list(asked.id).data
seen["attached"] = [
    [part.type for part in shown.content],
    [[one.file_id == file.id, one.tools[0].type] for one in shown.attachments],
    len(asked.tool_resources.file_search.vector_store_ids),
]
seen["deleted"] = threads.delete(thread.id).deleted
print(json.dumps(seen))
