import { Value } from 'typebox/value'
import { AssistantConfig, type AssistantSettings, type ToolSetting } from '../../domain/assistant-config.ts'
import { type AppError, invalidInput } from '../../domain/errors.ts'
import type { Metadata } from '../../domain/metadata.ts'
import type { ResponseFormat } from '../../domain/response-format.ts'

/** A tool of an assistant in the shape of the assistants API. */
export interface AssistantTool {
  type: 'function' | 'file_search' | 'code_interpreter'
  function?: ClientFunction
  file_search?: FileSearch
}

export interface ClientFunction {
  name: string
  description?: string
  parameters?: Record<string, unknown> | null
  strict?: boolean | null
}

interface FileSearch {
  max_num_results?: number
  ranking_options?: { ranker?: string; score_threshold?: number }
}

/** The members of an assistant that a request changes; null removes one. */
export interface AssistantMembers {
  name?: string | null
  description?: string | null
  instructions?: string | null
  model?: string
  temperature?: number | null
  topP?: number | null
  /** `auto`: as the model likes. */
  responseFormat?: ResponseFormat | 'auto' | null
  reasoningEffort?: AssistantSettings['reasoningEffort'] | null
  tools?: AssistantTool[] | null
  /** Ids of vector stores. */
  vectorStores?: string[]
  /** Ids of files that code can read. */
  codeFiles?: string[]
  metadata?: Metadata | null
}

interface StoredAssistant {
  name: string
  config: Record<string, unknown>
}

/** For an assistant that is created without a name. */
const nameless = 'Assistant'
const prefix = 'type==agent/'
/** The tools that the assistants API knows; those of other types stay as they are. */
const ownTypes: ToolSetting['type'][] = ['client', 'retrieval', 'code']

/** The assistant with its new members. Throws `invalid_input` for tools that cannot be stored. */
export function withMembers({ name, config }: StoredAssistant, change: AssistantMembers): StoredAssistant {
  const changed = { ...config }
  const set = (key: string, value: unknown) => {
    if (value === undefined) return
    if (value === null) delete changed[prefix + key]
    else changed[prefix + key] = value
  }
  set('description', change.description)
  set('system_message', change.instructions)
  set('model', change.model)
  set('temperature', change.temperature)
  set('top_p', change.topP)
  set('response_format', change.responseFormat === 'auto' ? null : change.responseFormat)
  set('reasoning_effort', change.reasoningEffort)
  set('metadata', change.metadata)
  set('vector_stores', change.vectorStores)
  set('code_files', change.codeFiles)
  if (change.tools !== undefined) set('tools', [...otherTools(config), ...(change.tools ?? []).map(toolSetting)])
  if (!Value.Check(AssistantConfig, changed))
    throw invalidInput(['body', 'tools'], 'the assistant cannot have so many tools, with those that it has')
  return { name: change.name === undefined ? name : change.name || nameless, config: changed }
}

/** A new assistant. */
export const newAssistant = (members: AssistantMembers): StoredAssistant =>
  withMembers({ name: nameless, config: {} }, members)

/** The tools of an assistant that the assistants API knows. */
export function toTools(tools: ToolSetting[]): AssistantTool[] {
  return tools.flatMap(({ type, name = '', config = {} }): AssistantTool[] => {
    if (type === 'client') return [{ type: 'function', function: { name, ...config } }]
    if (type === 'code') return [{ type: 'code_interpreter' }]
    if (type !== 'retrieval') return []
    return [{ type: 'file_search', ...(Object.keys(config).length > 0 ? { file_search: config } : {}) }]
  })
}

function otherTools(config: Record<string, unknown>): ToolSetting[] {
  const known = Value.Check(AssistantConfig, config) ? (config['type==agent/tools'] ?? []) : []
  return known.filter(({ type }) => !ownTypes.includes(type))
}

function toolSetting({ type, function: called, file_search: search }: AssistantTool, index: number): ToolSetting {
  switch (type) {
    case 'function': {
      if (called === undefined) throw invalidInput(['body', 'tools', index, 'function'], 'is required', 'missing')
      const { name, ...config } = called
      return { type: 'client', name, config }
    }
    case 'file_search':
      return { type: 'retrieval', ...(search === undefined ? {} : { config: { ...search } }) }
    case 'code_interpreter':
      return { type: 'code' }
  }
}

/** Throws `invalid_input` for a tool that executes code, where none is executed. */
export function requireCode(tools: AssistantTool[] | null | undefined, canExecute: boolean): void {
  const index = (tools ?? []).findIndex(({ type }) => type === 'code_interpreter')
  if (index >= 0 && !canExecute) throw noCode(['body', 'tools', index, 'type'])
}

function noCode(loc: (string | number)[]): AppError {
  return invalidInput(loc, 'code_interpreter is not available here: no code is executed', 'unsupported')
}
