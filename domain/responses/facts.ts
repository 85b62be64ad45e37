import { parseOwnJson } from '../json.ts'
import type { RunRecord } from '../records/run.ts'
import type { CallShape } from './call-shape.ts'
import type { CallContext } from './items-of.ts'
import type { McpListTools } from './items.ts'

/** Something of a request that was left out. */
export interface ResponseWarning {
  code: 'tool_left_out'
  message: string
  /** The member of the request. */
  param: string
}

/** What a run's record holds, as JSON text, if the run is a response of the responses API. */
export interface ResponseFacts {
  /** As the request named it. */
  model: string
  instructions?: string
  previous_response_id?: string
  /** The conversation that the response belongs to. Without it, the response has a thread of its own. */
  conversation_id?: string
  /** The run that goes on in the thread of this one. */
  continued_by?: string
  background?: boolean
  /** The response is deleted when it has been answered, and cannot be read. */
  isUnstored?: boolean
  /** How many messages of the run's input are copies of those before the previous response's end. */
  context: number
  /** Names of the client's functions. */
  functions: string[]
  /** Those of the client's tools that are no plain functions, by the names that the model is offered. */
  shapes?: [string, CallShape][]
  /** What of the request was left out, and why. */
  warnings?: ResponseWarning[]
  /** The container that the request named (the id of its thread); default: that of the run's thread. */
  container?: string
  /** Labels of the MCP servers that the request named. */
  serverLabels: string[]
  /** The tools of these servers, as they listed them when the response was made. */
  listed?: Omit<McpListTools, 'id' | 'type' | 'error'>[]
  /** Names of tools of MCP servers whose calls a person must allow, as the model is offered them. */
  approvals?: string[]
  /** Calls that a person has allowed in the request, by their ids, each with the id of the item that asked. */
  approved?: [string, string][]
  /** What was said before was replaced by a summary, sealed for the client. */
  compaction?: string
  /** Tools that the input of the request, or of a response before it, has brought, as JSON text. */
  found_json?: string
  /** Members of the request that the response shows as they were sent. */
  shown: Record<string, unknown>
}

export function factsOf({ response_json: text }: Pick<RunRecord, 'response_json'>): ResponseFacts | undefined {
  return text === undefined ? undefined : parseOwnJson<ResponseFacts>(text)
}

/** How calls of a response are shown. */
export function callContextOf({
  approvals = [],
  approved = [],
  functions,
  serverLabels,
  shapes = [],
}: Pick<ResponseFacts, 'approvals' | 'approved' | 'functions' | 'serverLabels' | 'shapes'>): Required<CallContext> {
  return {
    approvals: new Set(approvals),
    approved: new Map(approved),
    functions: new Set(functions),
    serverLabels,
    shapes: new Map(shapes),
  }
}
