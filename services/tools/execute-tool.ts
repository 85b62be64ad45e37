import type { Person } from '../../domain/acting.ts'
import type { MessagePart } from '../../domain/content-parts.ts'
import { unknownOutcome } from '../../domain/conversation.ts'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { parseOwnExactJson, parseOwnJson } from '../../domain/json.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { AllowancesNow } from '../groups/allowances.ts'
import { createSemaphore } from '../semaphore.ts'
import { isCut, limitText } from '../tool-text.ts'
import type { CallFacts, Question, ResultFile, Tool, ToolAnswer } from '../tool.ts'
import { type CheckForeignArguments, checkArguments } from './check-arguments.ts'
import type { Tools } from './index.ts'

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

interface TryToolDeps {
  tools: Pick<Tools, 'resolve'>
  allowances: Pick<AllowancesNow, 'of'>
  checkForeignArguments: CheckForeignArguments
}

interface ToolTrial extends ToolResult {
  isCut: boolean
  durationMs: number
}

/** Longer than listing the tools of an MCP server and the slowest tool together. */
const maxTrialMs = 90_000
/** An answer takes at most some megabytes of memory while it is read. */
const trialsAtOnce = { slots: 64, slotsPerOwner: 4, waitingPerOwner: 0 }

/**
 * Calls a tool of an assistant once, as a run of `person` would, who sets it up. Nothing is recorded. Who calls writes the
 * arguments, so the call needs no approval.
 */
export function createTryTool({ tools, allowances, checkForeignArguments }: TryToolDeps) {
  const slots = createSemaphore(trialsAtOnce)

  return async (
    assistant: AssistantRecord,
    { name, argsJson, person, userId }: { name: string; argsJson: string; person: Person; userId: string },
    gone: AbortSignal,
  ): Promise<ToolTrial> => {
    const limit = AbortSignal.timeout(maxTrialMs)
    const call = async () => {
      const signal = AbortSignal.any([gone, limit])
      const resolved = await tools.resolve(assistant, signal, {
        acting: { person, origin: 'chat' },
        allowed: await allowances.of(userId),
      })
      const tool = resolved.tools.find((candidate) => candidate.name === name)
      if (tool === undefined) throw new AppError('not_found', 'This assistant has no usable tool of this name.')
      const begun = performance.now()
      const call = { key: newId(), isApproved: true }
      const result = await executeTool(tool, argsJson, {
        checkForeignArguments,
        userId: assistant.user_id,
        call,
        signal,
      })
      return { ...result, isCut: isCut(result.content), durationMs: Math.round(performance.now() - begun) }
    }
    try {
      return await slots.withSlot(call, assistant.user_id, tooMany)
    } catch (error) {
      if (limit.aborted) throw new AppError('unavailable', 'The tool could not be called in time.', { cause: error })
      throw error
    }
  }
}

function tooMany(): AppError {
  return new AppError('too_many_requests', 'Too many tools are tried at once.', { retryAfterSeconds: 5 })
}
