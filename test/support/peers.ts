/** Programs that others wrote and that run against this service unchanged, by the test that runs them. */
export const peers: readonly { name: string; file: string }[] = [
  { name: "OpenAI's clients for Node, versions 4 to 7", file: 'test/v1/official-clients.test.ts' },
  { name: "OpenAI's client for Python, versions 1 to 3: the whole project", file: 'test/v1/python.test.ts' },
  { name: "OpenAI's client for Python: chat completions", file: 'test/v1/python-chat.test.ts' },
  { name: "OpenAI's client for Python: responses", file: 'test/v1/python-responses.test.ts' },
  { name: "The Python client's own tests of its methods", file: 'test/v1/python-suite.long.test.ts' },
  { name: 'The checks of Open Responses, and the WebSocket client', file: 'test/v1/open-responses.test.ts' },
  { name: 'Codex CLI', file: 'test/v1/codex.test.ts' },
  {
    name: 'OpenAI Agents SDK, LangChain, LangGraph, AI SDK, LlamaIndex, LiteLLM, Open WebUI',
    file: 'test/v1/frameworks.test.ts',
  },
  { name: 'Semantic Kernel, LangChain and LlamaIndex with assistants', file: 'test/v1/assistant-agents.long.test.ts' },
  { name: "LangChain's standard tests", file: 'test/v1/langchain-standard.long.test.ts' },
  { name: "LiteLLM's proxy before the service", file: 'test/v1/litellm-proxy.long.test.ts' },
  { name: 'The MCP inspector', file: 'test/mcp/inspector.long.test.ts' },
  { name: 'The conformance tests of MCP, for servers and clients', file: 'test/mcp/conformance.long.test.ts' },
]
