import Type from 'typebox'
import { AssistantToolConfig } from '../domain/assistant-tool.ts'
import { ClientToolConfig } from '../domain/client-tools.ts'
import { codeDescription, codeParameters } from './code/code-tool.ts'
import { RetrievalConfig } from './knowledge/retrieval-config.ts'
import { MemoryConfig, memoryDescription, memoryParameters } from './memory/memory-tool.ts'
import { scheduleDescription, scheduleParameters } from './schedules/schedule-tool.ts'
import { assistantToolDescription, assistantToolParameters } from './tools/assistant-tool.ts'
import { HttpRequestConfig, httpRequestDescription, httpRequestParameters } from './tools/http-request.ts'
import type { CatalogueEntry } from './tools/index.ts'
import { McpConfig, mcpDescription } from './tools/mcp.ts'
import { webSearchDescription, webSearchParameters } from './tools/web-search.ts'

const noConfig = { ...Type.Object({}, { description: 'Takes no configuration.' }) }

/** Every kind of tool, with the JSON Schema of its arguments and of its configuration. */
export const toolCatalogue: CatalogueEntry[] = [
  {
    type: 'retrieval',
    name: 'retrieval',
    description:
      "Searches the assistant's files, and reads one in order, as for a summary. Every assistant with files has it automatically.",
    parameters: {
      ...Type.Object({
        query: Type.String({ description: 'What to look for in the files.' }),
        file: Type.Optional(Type.String({ description: 'The file that is read; not for public callers.' })),
        part: Type.Optional(Type.Integer({ minimum: 1, description: 'Which part of the file.' })),
      }),
    },
    config_schema: { ...RetrievalConfig },
  },
  {
    type: 'http_request',
    name: 'http_request',
    description: httpRequestDescription,
    parameters: { ...httpRequestParameters },
    config_schema: { ...HttpRequestConfig },
  },
  {
    type: 'mcp',
    name: '{name}_{tool}',
    description: mcpDescription,
    parameters: { type: 'object', description: 'As the server declares for each of its tools.' },
    config_schema: { ...McpConfig },
  },
  {
    type: 'web_search',
    name: 'web_search',
    description: webSearchDescription,
    parameters: { ...webSearchParameters },
    config_schema: noConfig,
  },
  {
    type: 'schedule',
    name: 'schedule',
    description: scheduleDescription,
    parameters: { ...scheduleParameters },
    config_schema: noConfig,
  },
  {
    type: 'memory',
    name: 'memory',
    description: memoryDescription,
    parameters: { ...memoryParameters },
    config_schema: { ...MemoryConfig },
  },
  {
    type: 'assistant',
    name: 'assistant',
    description: assistantToolDescription,
    parameters: { ...assistantToolParameters },
    config_schema: { ...AssistantToolConfig },
  },
  {
    type: 'code',
    name: 'code',
    description: codeDescription,
    parameters: { ...codeParameters },
    config_schema: noConfig,
  },
  {
    type: 'client',
    name: '{name}',
    description: 'A function of the client: the run waits for its result, or ends with its calls.',
    parameters: { type: 'object', description: 'As its configuration declares.' },
    config_schema: { ...ClientToolConfig },
  },
]
