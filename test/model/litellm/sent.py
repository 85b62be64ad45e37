"""Prints what LiteLLM sends to each provider for one conversation, as a JSON object by provider.

It is given the conversation as JSON: {"messages": [...], "tools": [...]}, in the format of chat completions.
A server on loopback takes the requests and answers 400, which LiteLLM reports as an error."""
import json
import logging
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

seen = []


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        seen.append({"path": self.path, "body": json.loads(body)})
        answer = b'{"error": {"message": "only recorded", "type": "invalid_request_error"}}'
        self.send_response(400)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = f"http://127.0.0.1:{server.server_port}"
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

logging.disable(logging.CRITICAL)
import litellm  # noqa: E402

litellm.suppress_debug_info = True
litellm.drop_params = True
given = json.loads(sys.argv[1])
providers = {
    "anthropic": {"model": "anthropic/claude-sonnet-4-5", "api_base": base},
    "google": {"model": "gemini/gemini-3-pro-preview", "api_base": base},
    "bedrock": {
        "model": "bedrock/converse/anthropic.claude-sonnet-4-5-20250929-v1:0",
        "api_base": base,
        "aws_region_name": "eu-central-1",
    },
    "mistral": {"model": "mistral/magistral-medium-latest", "api_base": base},
}
sent = {}
for name, options in providers.items():
    before = len(seen)
    try:
        answer = litellm.completion(
            messages=json.loads(json.dumps(given["messages"])),
            tools=given["tools"],
            max_tokens=4000,
            stream=True,
            num_retries=0,
            api_key="sk-test-key",
            **options,
        )
        # A stream may be asked for only when it is read.
        list(answer)
    except Exception as error:
        if len(seen) == before:
            print(name, type(error).__name__, str(error)[:500], file=sys.stderr)
    last = seen[-1] if len(seen) > before else None
    sent[name] = last and {"path": last["path"], "body": last["body"]}
json.dump(sent, sys.stdout)
