import type { JsonSchema } from '../../domain/tool-arguments.ts'

export type { JsonSchema }

/** Something that a model may call during a run. */
export interface Tool {
  /** Kind of the tool, as an assistant's configuration names it. */
  type: string
  /** The name that the model calls: letters, digits, `_` and `-`, at most 64. */
  name: string
  description: string
  /** What its arguments must match; they are checked before `execute`. */
  parameters: JsonSchema
  /** `parameters` come from a server that a user named: nothing of them is run in this thread. */
  isForeign?: boolean
  /** Whether a second execution does no harm, so that it may follow one whose outcome is unknown. */
  safeToRepeat: boolean
  timeoutMs: number
  /** Answers the text that the model reads. What it throws is told to the model as a failure. */
  execute(args: Record<string, unknown>, context: ToolContext): Promise<string>
}

export interface ToolContext {
  signal: AbortSignal
}
