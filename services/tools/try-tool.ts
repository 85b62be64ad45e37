import type { Person } from '../../domain/acting.ts'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { AllowancesNow } from '../groups/allowances.ts'
import { createSemaphore } from '../semaphore.ts'
import { isCut } from '../tool-text.ts'
import type { CheckForeignArguments } from './check-arguments.ts'
import { type ToolResult, executeTool } from './execute-tool.ts'
import type { Tools } from './index.ts'

interface TryToolDeps {
  tools: Pick<Tools, 'resolve'>
  allowances: Pick<AllowancesNow, 'of'>
  checkForeignArguments: CheckForeignArguments
}

export interface ToolTrial extends ToolResult {
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
