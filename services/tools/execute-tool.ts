import type { MessagePart } from '../../domain/content-parts.ts'
import { unknownOutcome } from '../../domain/conversation.ts'
import { parseOwnExactJson, parseOwnJson } from '../../domain/json.ts'
import { limitText } from '../tool-text.ts'
import type { CallFacts, Question, ResultFile, Tool, ToolAnswer } from '../tool.ts'
import { type CheckForeignArguments, checkArguments } from './check-arguments.ts'

export interface ToolResult {
  /** `refused`: the arguments do not match the tool's schema, and the call was not made. */
  outcome: 'answered' | 'failed' | 'refused'
  /** What the model reads. */
  content: string
  /** Files that the tool has stored; absent of tools that store none. */
  parts?: MessagePart[]
  /** Pictures and files of the result that are not stored yet. */
  files?: ResultFile[]
  /** Another assistant answers; `content` is empty. */
  question?: Question
}

type Outcome = string | ToolAnswer | Question

interface ExecuteOptions {
  checkForeignArguments: CheckForeignArguments
  userId: string
  call: CallFacts
  signal: AbortSignal
  /** Executes the call it is given, for example within a span. */
  around?: (execute: () => Promise<Outcome>) => Promise<Outcome>
}

/**
 * Executes one call: checks its arguments, which are a JSON object, limits its time, and turns all failures of the tool
 * into text. Throws the signal's reason when the signal aborts.
 */
export async function executeTool(
  tool: Tool,
  argsJson: string,
  { checkForeignArguments, userId, call, signal, around = (execute) => execute() }: ExecuteOptions,
): Promise<ToolResult> {
  const args = parseOwnJson<Record<string, unknown>>(argsJson)
  const problem = tool.isForeign
    ? await checkForeignArguments(tool.parameters, args, { userId, signal })
    : checkArguments(tool, args)
  if (problem !== undefined) return { outcome: 'refused', content: `The call was not made: ${problem}` }
  const limit = AbortSignal.timeout(tool.timeoutMs)
  try {
    const exactArgs = parseOwnExactJson<Record<string, unknown>>(argsJson)
    const context = { signal: AbortSignal.any([signal, limit]), call, exactArgs }
    const answer = await around(() => (tool.ask ? tool.ask(args, context) : tool.execute(args, context)))
    if (typeof answer === 'string') return { outcome: 'answered', content: answer }
    return 'content' in answer
      ? { outcome: 'answered', ...answer }
      : { outcome: 'answered', content: '', question: answer }
  } catch (error) {
    signal.throwIfAborted()
    return { outcome: 'failed', content: failureText(tool, error, limit.aborted) }
  }
}

function failureText(tool: Tool, error: unknown, isTimeout: boolean): string {
  if (isTimeout)
    return `The tool ${tool.name} gave no answer within ${tool.timeoutMs / 1000} seconds. ${tool.safeToRepeat ? '' : unknownOutcome}`.trim()
  return `The tool ${tool.name} failed: ${error instanceof Error ? limitText(error.message) : 'no reason was given'}`
}
