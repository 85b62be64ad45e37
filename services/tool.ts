import type { MessagePart } from '../domain/content-parts.ts'
import type { JsonSchema } from '../domain/tool-arguments.ts'

export type { JsonSchema }

/** A tool that a model may call during a run. */
export interface Tool {
  /** Kind of the tool, as an assistant's configuration names it. */
  type: string
  /** The name that the model calls: letters, digits, `_` and `-`, at most 64. */
  name: string
  description: string
  /** The schema of its arguments; they are checked before `execute`. */
  parameters: JsonSchema
  /** Whether `parameters` come from a server that a user named: then they are not compiled in this thread. */
  isForeign?: boolean
  /** The client executes it: `execute` refuses. */
  isClient?: boolean
  /** Whether the model must keep to `parameters`; undefined: the model's default. */
  strict?: boolean
  /** Whether a person must allow a call with these arguments; without this, the assistant's configuration decides. */
  needsApproval?(args: Record<string, unknown>): boolean
  /** The client of the run is asked for the approval: its next run makes the call. */
  asksClient?: boolean
  /** Whether a second execution does no harm, so that a call with an unknown outcome may be repeated. */
  safeToRepeat: boolean
  timeoutMs: number
  /** What arguments are checked against, if `parameters` says more than must hold. */
  checkedAgainst?: JsonSchema
  /**
   * Returns the text that the model reads, with the files that the tool has stored. If it throws, the model is told the
   * failure.
   */
  execute(args: Record<string, unknown>, context: ToolContext): Promise<string | ToolAnswer>
  /** What the model is told with this question without calling the tool; empty: nothing. */
  recall?(question: string, signal: AbortSignal): Promise<string>
  /** In place of `execute`: returns a question that another assistant answers. */
  ask?(args: Record<string, unknown>, context: ToolContext): Promise<Question>
}

export interface ToolAnswer {
  /** What the model reads. */
  content: string
  /** Files that the tool has stored with the thread. */
  parts?: MessagePart[]
  /** Pictures and files that are to be stored with the thread. */
  files?: ResultFile[]
}

/** A picture, sound or file in the result of a tool. */
export interface ResultFile {
  name: string
  bytes: Buffer
}

/** A question to another assistant. */
export interface Question {
  assistantId: string
  question: string
}

export interface ToolContext {
  signal: AbortSignal
  call: CallFacts
  /** The arguments as they are passed on to other systems: numbers have the digits that the model wrote. */
  exactArgs?: Record<string, unknown>
}

/** What a call is about. */
export interface CallFacts {
  /** The same for a repeated attempt; it begins with the id of the run. */
  key: string
  /** Absent for a call that is only tried. */
  threadId?: string
  /** A person has approved this very call, or makes it. */
  isApproved: boolean
}
