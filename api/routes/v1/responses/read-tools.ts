import { Value } from 'typebox/value'
import { type ClientFunction, clientFunctionsText } from '../../../../domain/client-tools.ts'
import { invalidInput } from '../../../../domain/errors.ts'
import { maxVectorStores } from '../../../../domain/limits.ts'
import type { CallShape } from '../../../../domain/responses/call-shape.ts'
import { customFunction, shellFunctions } from '../../../../domain/responses/client-calls.ts'
import { type AttributeFilter, checkFilter } from '../../../../services/knowledge/attribute-filter.ts'
import { type RequestedTools, noTools } from '../../../../services/v1/responses/new-response.ts'
import { Filter } from '../vector-store-schemas.ts'
import { offeredName } from './offered-name.ts'
import type { RequestTool, ToolFilter } from './tool-schemas.ts'

type Loc = (string | number)[]

const kinds = {
  function: ['name', 'description', 'parameters', 'strict'],
  custom: ['name', 'description', 'format'],
  namespace: ['name', 'description', 'tools'],
  tool_search: ['description', 'execution', 'parameters'],
  local_shell: [],
  shell: ['environment'],
  apply_patch: [],
  file_search: ['vector_store_ids', 'max_num_results', 'ranking_options', 'filters'],
  web_search: ['search_context_size', 'external_web_access', 'filters'],
  code_interpreter: ['container'],
  mcp: [
    'server_label',
    'server_url',
    'server_description',
    'authorization',
    'headers',
    'allowed_tools',
    'require_approval',
  ],
} as const satisfies Record<string, (keyof RequestTool)[]>

type Kind = keyof typeof kinds

/** In all, because a tool can be a namespace of many. */
const maxFunctions = 1000
/** Each is asked for its tools before the run begins. */
const maxServers = 16

/**
 * The tools of a request, by who executes them; `added` are those that its input brings. Throws `invalid_input` for what is
 * not supported.
 */
export function readTools(tools: RequestTool[], added: { tool: RequestTool; loc: Loc }[] = []): RequestedTools {
  const functions: ClientFunction[] = []
  const names = new Set<string>()
  const requested = noTools()
  const add = (offered: ClientFunction, shape?: CallShape) => {
    // Clients repeat tools that a search has found.
    if (names.has(offered.name) && requested.shown.length === tools.length) return
    if (functions.length === maxFunctions)
      throw invalidInput(['body', 'tools'], `can hold ${maxFunctions} functions at most, with those of namespaces`)
    functions.push(offered)
    names.add(offered.name)
    if (shape !== undefined) requested.shapes.push([offered.name, shape])
  }
  const own = tools.map((tool, index) => ({ tool, loc: ['body', 'tools', index] as Loc }))
  for (const { tool, loc } of [...own, ...added]) {
    const kind = kindOf(tool, loc)
    switch (kind) {
      case 'function':
      case 'custom':
        addClientTool(tool, { add, loc })
        break
      case 'namespace':
        addNamespace(tool, { add, loc })
        break
      case 'tool_search':
        // Of a search by the server nothing is left to find: the model is given every tool at once.
        if (tool.execution === 'client')
          add({ ...functionOf({ ...tool, name: kind }, loc), name: kind }, { type: kind })
        break
      case 'shell':
        if (tool.environment && tool.environment.type !== 'local')
          throw invalidInput(
            [...loc, 'environment', 'type'],
            `${tool.environment.type} is not available here`,
            'unsupported',
          )
        add(shellFunctions.shell, { type: kind })
        break
      case 'local_shell':
      case 'apply_patch':
        add(shellFunctions[kind], { type: kind })
        break
      case 'file_search':
        if (requested.fileSearch !== undefined) throw invalidInput(loc, 'there can be one tool of type file_search')
        requested.fileSearch = fileSearchOf(tool, loc)
        break
      case 'web_search':
        refuseSearchOptions(tool, loc)
        requested.webSearch ??= { param: pathOf(loc) }
        break
      case 'code_interpreter':
        if (requested.code !== undefined) throw invalidInput(loc, 'there can be one tool of type code_interpreter')
        requested.code = codeOf(tool, loc)
        break
      case 'mcp':
        if (requested.servers.length === maxServers)
          throw invalidInput(['body', 'tools'], `can name ${maxServers} MCP servers at most`)
        requested.servers.push(serverOf(tool, loc))
        break
    }
    if (loc[1] === 'tools') requested.shown.push(withoutSecrets(tool))
  }
  const labels = requested.servers.map(({ name }) => name)
  if (new Set(labels).size < labels.length) throw invalidInput(['body', 'tools'], 'two servers have one server_label')
  if (functions.length > 0) requested.functionsText = clientFunctionsText(functions, ['body', 'tools'])
  requested.functions = functions.map(({ name }) => name)
  return requested
}

type ClientTool = Pick<RequestTool, 'type' | 'name' | 'description' | 'parameters' | 'strict' | 'format'>

interface NamespaceTool extends ClientTool {
  tools?: NamespaceTool[] | null
}

interface ToolLocation {
  add: (offered: ClientFunction, shape?: CallShape) => void
  loc: Loc
  namespace?: string
}

function addClientTool(tool: ClientTool, { add, loc, namespace }: ToolLocation): void {
  const name = required(tool.name, [...loc, 'name'])
  const offered = offeredName(name, namespace)
  const inside = namespace === undefined ? {} : { namespace }
  switch (tool.type) {
    case 'function':
      add(
        { ...functionOf(tool, loc), name: offered },
        namespace === undefined ? undefined : { type: 'function', name, namespace },
      )
      return
    case 'custom':
      add(customFunction(offered, tool.description, grammarOf(tool, loc)), { type: 'custom', name, ...inside })
      return
    default:
      throw invalidInput([...loc, 'type'], `${tool.type} is not available here`, 'unsupported')
  }
}

function addNamespace(tool: NamespaceTool, { add, loc, namespace }: ToolLocation): void {
  const name = required(tool.name, [...loc, 'name'])
  const whole = namespace === undefined ? name : `${namespace}.${name}`
  for (const [index, inner] of (tool.tools ?? []).entries()) {
    const place = { add, loc: [...loc, 'tools', index], namespace: whole }
    if (inner.type === 'namespace') addNamespace(inner, place)
    else addClientTool(inner, place)
  }
}

function grammarOf({ format }: ClientTool, loc: Loc): { syntax: string; definition: string } | undefined {
  if (!format || format.type === 'text') return undefined
  return {
    syntax: required(format.syntax, [...loc, 'format', 'syntax']),
    definition: required(format.definition, [...loc, 'format', 'definition']),
  }
}

function pathOf(loc: Loc): string {
  return loc
    .slice(1)
    .reduce<string>(
      (place, part) => (typeof part === 'number' ? `${place}[${part}]` : place === '' ? part : `${place}.${part}`),
      '',
    )
}

function kindOf(tool: RequestTool, loc: Loc): Kind {
  const type = plainType(tool.type)
  if (!isKind(type)) throw invalidInput([...loc, 'type'], `${tool.type} is not available here`, 'unsupported')
  const known: readonly string[] = kinds[type]
  for (const [member, value] of Object.entries(tool)) {
    if (member === 'type' || value === undefined || value === null || known.includes(member)) continue
    const why = refused[member]
    if (why !== undefined) throw invalidInput([...loc, member], why, 'unsupported')
    throw invalidInput([...loc, member], `is no member of a tool of type ${tool.type}`, 'additionalProperties')
  }
  return type
}

/** Members of the interface's tools that would change the answer. */
const refused: Record<string, string> = {
  async: 'calls that are answered later are not available here',
  connector_id: 'connectors are not available here: name a server_url',
  tunnel_id: 'tunnels are not available here: name a server_url',
}

/** The type without the version of a web search. */
export function plainType(type: string): string {
  return type.replace(/^(web_search)(_preview)?(_\d{4}_\d{2}_\d{2})?$/, '$1')
}

function isKind(type: string): type is Kind {
  return Object.hasOwn(kinds, type)
}

function functionOf({ name, description, parameters, strict }: ClientTool, loc: Loc): ClientFunction {
  return {
    name: required(name, [...loc, 'name']),
    ...(description === undefined ? {} : { description }),
    ...(parameters === undefined ? {} : { parameters }),
    ...(strict === undefined ? {} : { strict }),
  }
}

function fileSearchOf(tool: RequestTool, loc: Loc): NonNullable<RequestedTools['fileSearch']> {
  const stores = required(tool.vector_store_ids, [...loc, 'vector_store_ids'])
  if (stores.length > maxVectorStores)
    throw invalidInput([...loc, 'vector_store_ids'], `can name ${maxVectorStores} vector stores at most`)
  const filter =
    tool.filters === undefined || tool.filters === null ? undefined : filterOf(tool.filters, [...loc, 'filters'])
  return {
    vectorStores: stores,
    ...(tool.max_num_results === undefined ? {} : { limit: tool.max_num_results }),
    ...(tool.ranking_options?.score_threshold === undefined
      ? {}
      : { scoreThreshold: tool.ranking_options.score_threshold }),
    ...(filter === undefined ? {} : { filter }),
  }
}

function codeOf({ container }: RequestTool, loc: Loc): NonNullable<RequestedTools['code']> {
  const at = [...loc, 'container']
  if (typeof container === 'string') return { container, fileIds: [], loc }
  const network = container?.network_policy
  if (network && network.type !== 'disabled')
    throw invalidInput([...at, 'network_policy', 'type'], `${network.type} is not available here`, 'unsupported')
  return { container: undefined, fileIds: [...new Set(container?.file_ids ?? [])], loc }
}

function filterOf(filter: unknown, loc: Loc): AttributeFilter {
  if (!Value.Check(Filter, filter)) {
    const [error] = Value.Errors(Filter, filter)
    throw invalidInput(loc, error?.message ?? 'is not a filter')
  }
  const read: AttributeFilter = filter
  checkFilter(read, loc)
  return read
}

function refuseSearchOptions(tool: RequestTool, loc: Loc): void {
  if (tool.filters && Object.values(tool.filters).some((value) => value !== null && value !== undefined))
    throw invalidInput([...loc, 'filters'], 'searches cannot be narrowed here', 'unsupported')
}

function serverOf(tool: RequestTool, loc: Loc): RequestedTools['servers'][number] {
  const { authorization, allowed_tools: allowed } = tool
  const names = (Array.isArray(allowed) ? allowed : allowed?.tool_names) ?? undefined
  const readOnly = Array.isArray(allowed) ? undefined : (allowed?.read_only ?? undefined)
  return {
    name: required(tool.server_label, [...loc, 'server_label']),
    url: required(tool.server_url, [...loc, 'server_url']),
    headers: {
      ...tool.headers,
      ...(authorization === undefined ? {} : { authorization: `Bearer ${authorization}` }),
    },
    ...(names === undefined ? {} : { allowed_tools: names }),
    ...(readOnly === undefined ? {} : { readOnly }),
    approval: approvalOf(tool, [...loc, 'require_approval']),
    loc: [...loc, 'server_url'],
  }
}

/** Of a request that says nothing, a person is asked about every call. */
function approvalOf({ require_approval: rule }: RequestTool, loc: Loc): RequestedTools['servers'][number]['approval'] {
  if (rule === undefined || rule === null || rule === 'always') return 'always'
  if (rule === 'never') return rule
  if (typeof rule === 'string') throw invalidInput(loc, 'is none of always, never')
  const { always, never } = rule
  return { always: filterOfTools(always), never: filterOfTools(never) }
}

function filterOfTools(filter: ToolFilter | null | undefined) {
  if (!filter) return undefined
  return { names: filter.tool_names ?? undefined, readOnly: filter.read_only ?? undefined }
}

/**
 * With the values that are used. Keys are not shown, nor stored in clear. Addresses of servers have keys in their path,
 * query or user, too.
 */
function withoutSecrets({
  authorization: _key,
  headers: _headers,
  server_url: url,
  ...tool
}: RequestTool): RequestTool {
  if (url !== undefined) return { ...tool, server_url: originOf(url) }
  if (tool.type !== 'function') return tool
  const { description = null, parameters = null, strict = false } = tool
  return { ...tool, description, parameters, strict }
}

function originOf(url: string): string {
  if (!URL.canParse(url)) return ''
  const { protocol, host } = new URL(url)
  return `${protocol}//${host}`
}

export function required<T>(value: T | undefined, loc: Loc): T {
  if (value === undefined) throw invalidInput(loc, 'is required', 'missing')
  return value
}
