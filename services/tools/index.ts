import { Value } from 'typebox/value'
import {
  type Acting,
  type Person,
  type ToolType,
  mayBringFunctions,
  mayReadFiles,
  mayUse,
  toolTypes,
} from '../../domain/acting.ts'
import type { AssistantSettings, ToolSetting } from '../../domain/assistant-config.ts'
import { AssistantToolConfig } from '../../domain/assistant-tool.ts'
import { type ClientFunction, maxToolNameLength, toolName } from '../../domain/client-tools.ts'
import type { ModelCatalog } from '../../domain/model-catalog.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { CodeOverride, SearchOverride } from '../../domain/run-overrides.ts'
import type { SearchAccount } from '../../domain/search-account.ts'
import type { AssistantConfigs } from '../assistants/configs.ts'
import { type Allowances, mayUseToolType } from '../groups/allowances.ts'
import type { RetrievalToolOptions } from '../knowledge/retrieval-tool.ts'
import { type MemoryOptions, MemoryConfig } from '../memory/memory-tool.ts'
import type { Fetch, Outbound } from '../outbound.ts'
import type { Tool } from '../tool.ts'
import { type Askable, assistantTool } from './assistant-tool.ts'
import { clientTool, clientToolOf } from './client-tool.ts'
import { createAllowedHosts, HttpRequestConfig, httpRequestTool, httpRequestWarning } from './http-request.ts'
import { type McpTools, type Relogin, createMcpTools, McpConfig } from './mcp.ts'
import { webSearchTool } from './web-search.ts'

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

interface ResolveDeps {
  outbound: Pick<Outbound, 'fetchWith'>
  search: SearchAccount | undefined
  fetch: Fetch
  mcp: McpTools
  /**
   * What a request to an MCP server carries as `Authorization`, where the assistant is logged in; not what it has
   * refused.
   */
  mcpAuthorization(url: string, signal: AbortSignal, refused?: string): Promise<string | undefined>
  retrieval(name: string): Promise<Tool | undefined>
  schedule(name: string): Tool
  memory(name: string, config: MemoryConfig): Tool
  /** Undefined if no code is executed here. */
  code?: ((name: string) => Promise<Tool>) | undefined
  /** Those of these assistants that can be asked now. */
  askable(ids: string[]): Promise<Askable[]>
  signal: AbortSignal
}

/** A tool that could not be given to an assistant, and the reason, without secrets. */
export interface ToolProblem {
  type: ToolSetting['type']
  name: string
  problem: string
}

/** A warning for the owner of an assistant about one of its tools, without secrets. */
interface ToolWarning {
  type: ToolSetting['type']
  name: string
  warning: string
}

/** What a run wants of an assistant's tools. */
export interface WantedTools {
  /** Decides which tools there are, and for whom they act. */
  acting: Acting
  /** What the search searches instead. */
  search?: SearchOverride | undefined
  /** Where and with which files code is executed. */
  code?: CodeOverride | undefined
  /** The types of the assistant's own tools that may be used; default: all. */
  types?: ToolType[]
  /** Tools that the service executes in addition. */
  added?: ToolSetting[]
  /** What the operator allows to the user of the run; default: everything. */
  allowed?: Allowances
  /** Functions of the client, which replace those of the assistant with the same names. */
  functions?: ClientFunction[]
}

type Resolved = { tools: Tool[]; warning?: string | undefined } | { problem: string }

/**
 * Creates the tools of a configuration to which the run has a right. A tool that cannot be used is reported and left
 * out. The client knows its functions by their names, so they keep them; another tool of the same name gets a number.
 */
async function resolveTools(
  { tools: settings }: Pick<AssistantSettings, 'tools'>,
  { acting, types = [...toolTypes], added = [], functions = [], code, allowed = {} }: WantedTools,
  deps: ResolveDeps,
) {
  const all: ToolSetting[] = settings.some(({ type }) => type === 'retrieval')
    ? settings
    : [{ type: 'retrieval' }, ...settings]
  const own = all.filter(({ type }) => types.includes(type))
  const needsCode = code?.isAdded === true && own.every(({ type }) => type !== 'code')
  const given = [...own, ...(needsCode ? [{ type: 'code' as const }] : []), ...added].filter(({ type }) =>
    mayUse(type, acting),
  )
  const resolved = await Promise.all(
    given.map(async (setting) => {
      // What a request brings has the request's own keys, not the owner's login.
      const known = added.includes(setting) ? { ...deps, mcpAuthorization: async () => undefined } : deps
      return { setting, result: await resolveAllowed(setting, allowed, known) }
    }),
  )
  const problems: ToolProblem[] = []
  const warnings: ToolWarning[] = []
  const brought = mayBringFunctions(acting) ? functions : []
  const clientTools = new Map(brought.map((given) => [given.name, clientTool(given)]))
  const tools: Tool[] = []
  for (const { setting, result } of resolved) {
    const about = { type: setting.type, name: toName(setting) }
    if ('problem' in result) problems.push({ ...about, problem: result.problem })
    else
      for (const tool of result.tools) {
        if (!tool.isClient) tools.push(setting.ask === true ? { ...tool, ...asking(added.includes(setting)) } : tool)
        else if (!clientTools.has(tool.name)) clientTools.set(tool.name, tool)
      }
    if ('warning' in result && result.warning !== undefined) warnings.push({ ...about, warning: result.warning })
  }
  return { tools: withDistinctNames([...clientTools.values(), ...tools]), problems, warnings }
}

/** Of what a request brings, the request's client is asked. */
function asking(isAdded: boolean): Pick<Tool, 'asksClient' | 'needsApproval'> {
  return { needsApproval: () => true, ...(isAdded ? { asksClient: true } : {}) }
}

/** Search in the own files is no tool that somebody chooses. */
async function resolveAllowed(setting: ToolSetting, allowed: Allowances, deps: ResolveDeps): Promise<Resolved> {
  if (setting.type !== 'retrieval' && !mayUseToolType(allowed, setting.type))
    return { problem: `The operator of this service does not allow you tools of the type ${setting.type}.` }
  return resolveOne(setting, allowed, deps)
}

async function resolveOne(setting: ToolSetting, { hosts }: Allowances, deps: ResolveDeps): Promise<Resolved> {
  const name = nameOf(setting)
  const config = setting.config ?? {}
  switch (setting.type) {
    case 'retrieval': {
      const tool = await deps.retrieval(name)
      return { tools: tool === undefined ? [] : [tool] }
    }
    case 'http_request':
      if (!Value.Check(HttpRequestConfig, config)) return { problem: mismatch(HttpRequestConfig, config) }
      return { tools: [httpRequestTool(name, config, deps.outbound, hosts)], warning: httpRequestWarning(config) }
    case 'web_search':
      if (deps.search === undefined) return { problem: 'No search service is configured.' }
      return { tools: [webSearchTool(name, deps.search, deps.fetch)] }
    case 'schedule':
      return { tools: [deps.schedule(name)] }
    case 'memory':
      if (!Value.Check(MemoryConfig, config)) return { problem: mismatch(MemoryConfig, config) }
      return { tools: [deps.memory(name, config)] }
    case 'assistant':
      if (!Value.Check(AssistantToolConfig, config)) return { problem: mismatch(AssistantToolConfig, config) }
      return delegationTool(name, config, deps)
    case 'code':
      return deps.code === undefined ? { problem: 'No code is executed here.' } : { tools: [await deps.code(name)] }
    case 'client':
      return clientToolOf(setting)
    case 'mcp':
      if (!Value.Check(McpConfig, config)) return { problem: mismatch(McpConfig, config) }
      if (hosts !== undefined && !reaches(hosts, config.url)) {
        const host = URL.parse(config.url)?.hostname ?? config.url
        return { problem: `The operator of this service does not allow you the host ${host}.` }
      }
      try {
        const login = await loginAt(config, deps)
        return await deps.mcp.list(login?.config ?? config, deps.signal, login?.relogin)
      } catch (error) {
        deps.signal.throwIfAborted()
        return { problem: error instanceof Error ? error.message : 'the MCP server failed' }
      }
  }
}

/** Headers of the owner come first. */
async function loginAt(
  config: McpConfig,
  { mcpAuthorization, signal }: Pick<ResolveDeps, 'mcpAuthorization' | 'signal'>,
): Promise<{ config: McpConfig; relogin: Relogin } | undefined> {
  const given = Object.keys(config.headers ?? {}).some((name) => name.toLowerCase() === 'authorization')
  const authorization = given ? undefined : await mcpAuthorization(config.url, signal)
  if (authorization === undefined) return undefined
  return {
    config: { ...config, headers: { ...config.headers, authorization } },
    relogin: (refused, callSignal) => mcpAuthorization(config.url, callSignal, refused),
  }
}

function reaches(hosts: readonly string[], url: string): boolean {
  const parsed = URL.parse(url)
  return parsed !== null && createAllowedHosts([...hosts]).mayReach(parsed)
}

async function delegationTool(
  name: string,
  { assistant_ids: ids }: AssistantToolConfig,
  { askable: find }: Pick<ResolveDeps, 'askable'>,
): Promise<Resolved> {
  const askable = await find(ids)
  const missing = ids.length - askable.length
  if (askable.length === 0) return { problem: 'None of its assistants is in this project any more.' }
  return {
    tools: [assistantTool(name, askable)],
    warning: missing === 0 ? undefined : `${missing} of its assistants are not in this project any more.`,
  }
}

function nameOf(setting: ToolSetting): string {
  return toolName(setting.name ?? setting.type)
}

/** The tools of an MCP server begin with the name in its settings. */
function toName(setting: ToolSetting): string {
  const inside = setting.type === 'mcp' ? setting.config?.['name'] : undefined
  return setting.name === undefined && typeof inside === 'string' ? toolName(inside) : nameOf(setting)
}

/** Where a configuration is wrong. Only the position, because the value may be a secret. */
function mismatch(
  schema: typeof HttpRequestConfig | typeof McpConfig | typeof MemoryConfig | typeof AssistantToolConfig,
  config: object,
): string {
  const [error] = Value.Errors(schema, config)
  return `config${error?.instancePath ?? ''}: ${error?.message ?? 'is not valid'}`
}

/** The same tools with distinct names: repeated names are numbered, `search`, `search_2`. */
function withDistinctNames<T extends { name: string }>(tools: T[]): T[] {
  const taken = new Set<string>()
  return tools.map((tool) => {
    let name = tool.name
    for (let number = 2; taken.has(name); number++)
      name = toolName(`${tool.name.slice(0, maxToolNameLength - 4)}_${number}`)
    taken.add(name)
    return name === tool.name ? tool : { ...tool, name }
  })
}
