import { type Person, mayReadFiles } from '../../domain/acting.ts'
import type { ToolSetting } from '../../domain/assistant-config.ts'
import type { ModelCatalog } from '../../domain/model-catalog.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { CodeOverride } from '../../domain/run-overrides.ts'
import type { AssistantConfigs } from '../assistants/configs.ts'
import type { RetrievalToolOptions } from '../knowledge/retrieval-tool.ts'
import type { MemoryOptions } from '../memory/memory-tool.ts'
import type { Fetch, Outbound } from '../outbound.ts'
import type { Tool } from '../tool.ts'
import type { Askable } from './assistant-tool.ts'
import { createMcpTools } from './mcp.ts'
import { type ToolProblem, type ToolWarning, type WantedTools, resolveTools } from './resolve-tools.ts'

export interface ToolsDeps {
  /** Every kind of tool. */
  catalogue: CatalogueEntry[]
  assistantConfigs: Pick<AssistantConfigs, 'settingsOf'>
  outbound: Pick<Outbound, 'fetchWith'>
  /** Say where the web is searched. */
  models: { current(): Pick<ModelCatalog, 'search'> }
  /** For addresses of operators. */
  fetch: Fetch
  /** The assistant's retrieval tool; undefined if it has no ready files. */
  retrieval(assistant: AssistantRecord, options: RetrievalToolOptions): Promise<Tool | undefined>
  /** The tool with which the assistant makes schedules. */
  schedule(assistant: AssistantRecord, name: string, person: Person): Tool
  /** The tool with which the assistant keeps facts. */
  memory(assistant: AssistantRecord, options: MemoryOptions): Tool
  /** The tool with which the assistant executes Python; undefined if none is executed here. */
  code?: ((assistant: AssistantRecord, name: string, wanted: CodeOverride) => Promise<Tool>) | undefined
  /** What a request to an MCP server carries as `Authorization`, where the assistant is logged in. */
  mcpAuthorization(
    assistant: AssistantRecord,
    url: string,
    signal: AbortSignal,
    refused?: string,
  ): Promise<string | undefined>
  /** Those of these assistants that the assistant can ask now. */
  askable(assistant: AssistantRecord, ids: string[]): Promise<Askable[]>
}

/** A kind of tool. */
export interface CatalogueEntry {
  type: ToolSetting['type']
  name: string
  description: string
  /** JSON Schema of the arguments that the model passes. */
  parameters: Record<string, unknown>
  /** JSON Schema of `config` in the assistant's entry of `type==agent/tools`. */
  config_schema: Record<string, unknown>
}

export interface ToolDescription extends CatalogueEntry {
  /** Whether the service's settings allow it. */
  available: boolean
}

export type Tools = ReturnType<typeof createTools>

/** The client of MCP servers reads whole answers into memory. */
const maxMcpAnswerBytes = 8 * 1024 * 1024

/** The kinds of tools, and the tools of an assistant. */
export function createTools({
  catalogue,
  assistantConfigs,
  outbound,
  models,
  fetch,
  retrieval,
  schedule,
  memory,
  code,
  mcpAuthorization,
  askable,
}: ToolsDeps) {
  const mcp = createMcpTools({
    fetch: outbound.fetchWith({ maxBytes: maxMcpAnswerBytes, json: { bytes: maxMcpAnswerBytes } }),
  })
  const isAvailable = (type: ToolSetting['type']) =>
    type === 'web_search' ? models.current().search !== undefined : type !== 'code' || code !== undefined
  return {
    /** What an MCP server offers. Throws if it cannot be asked; the message contains no keys or addresses. */
    offeredBy: mcp.offeredBy,

    /** For `GET /tools/`. */
    catalogue: (): ToolDescription[] => catalogue.map((tool) => ({ ...tool, available: isAvailable(tool.type) })),

    /**
     * The current tools of an assistant, with distinct names, and those of its configuration that cannot be used,
     * with the reason. A run may want other tools than the assistant has, and is offered what its rights allow.
     */
    resolve: (
      assistant: AssistantRecord,
      signal: AbortSignal,
      wanted: WantedTools,
    ): Promise<{ tools: Tool[]; problems: ToolProblem[]; warnings: ToolWarning[] }> =>
      resolveTools(assistantConfigs.settingsOf(assistant), wanted, {
        retrieval: (name) =>
          retrieval(assistant, { name, search: wanted.search, readsFiles: mayReadFiles(wanted.acting) }),
        schedule: (name) => schedule(assistant, name, wanted.acting.person),
        memory: (name, config) => memory(assistant, { name, config, person: wanted.acting.person }),
        code: code && ((name) => code(assistant, name, wanted.code ?? {})),
        askable: (ids) => askable(assistant, ids),
        outbound,
        search: models.current().search,
        fetch,
        mcp,
        mcpAuthorization: (url, callSignal, refused) => mcpAuthorization(assistant, url, callSignal, refused),
        signal,
      }),
  }
}
