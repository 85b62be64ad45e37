import type { Acting } from '../../../domain/acting.ts'
import type { RunOverrides } from '../../../domain/records/run.ts'
import type { ThreadRecord } from '../../../domain/records/thread.ts'
import type { CallShape } from '../../../domain/responses/call-shape.ts'
import type { ResponseFacts } from '../../../domain/responses/facts.ts'
import type { SearchOverride } from '../../../domain/run-overrides.ts'
import type { ApprovalRule } from './approvals.ts'
import type { InputEntry } from './find-items.ts'

/** An MCP server of a request. */
export interface RequestedServer {
  name: string
  url: string
  headers: Record<string, string>
  allowed_tools?: string[]
  /** Only tools that say so of themselves, or only others. */
  readOnly?: boolean
  approval: ApprovalRule
  /** The member of the request. */
  loc: (string | number)[]
}

/** The tools that a request brings. */
export interface RequestedTools {
  /** The names under which the model is offered the client's functions and other tools. */
  functions: string[]
  /** The functions as a run stores them. */
  functionsText: string | undefined
  /** Those of them that are no plain functions. */
  shapes: [string, CallShape][]
  fileSearch: SearchOverride | undefined
  /** The member that asks for it. */
  webSearch: { param: string } | undefined
  /** Where code is executed: in a container, or in the session of the thread, with these files of the project. */
  code: { container: string | undefined; fileIds: string[]; loc: (string | number)[] } | undefined
  /** MCP servers. */
  servers: RequestedServer[]
  /** As the response shows them. */
  shown: object[]
  /** What the input brings, and what it brought before, as JSON text: the next response has it, too. */
  foundText?: string | undefined
}

export const noTools = (): RequestedTools => ({
  functions: [],
  functionsText: undefined,
  shapes: [],
  fileSearch: undefined,
  webSearch: undefined,
  code: undefined,
  servers: [],
  shown: [],
})

export interface NewResponse {
  model: string
  acting: Acting
  input: InputEntry[]
  instructions: string | undefined
  previousId: string | undefined
  /** The thread of a conversation. */
  conversation: ThreadRecord | undefined
  isBackground: boolean
  isStored: boolean
  overrides: RunOverrides
  tools: RequestedTools
  metadataJson: string | undefined
  shown: ResponseFacts['shown']
  /** What was said before is replaced by this summary. */
  summary?: string
  /** Responses that are not stored and can be continued all the same: their caller holds them open. */
  retained?: ReadonlySet<string>
}
