import type { FastifyReply, FastifyRequest } from 'fastify'
import { checkFreeForm } from '../../../domain/free-form.ts'
import { checkTextSize, maxMessageBytes } from '../../../domain/message-size.ts'
import type { Message } from '../../../domain/messages.ts'
import type { AssistantRecord } from '../../../domain/records/assistant.ts'
import type { ThreadRecord } from '../../../domain/records/thread.ts'
import { answerIsFollowed } from '../../plugins/idempotency.ts'
import { logRun } from '../../plugins/logging.ts'
import { followOnce } from '../runs/follow-once.ts'
import type { CompatDeps } from './compat-route.ts'
import { overridesOf, publicCallerOf } from './model-parameters.ts'
import { streamThreadRun } from './stream-thread-run.ts'
import type { CompatRun, CompatRunCreateRequest } from './thread-schemas.ts'
import { toCompatRun, toCompatThread } from './compat-objects.ts'
import { messagesOf } from './threads.ts'
import { refuseUnmetRun } from './unmet-demands.ts'

interface RunRequest {
  assistant: AssistantRecord
  thread: ThreadRecord
  body: CompatRunCreateRequest
  /** The first messages of a thread that is created with the run. */
  messagesOfNewThread?: Message[]
}

/** Starts a run on a thread, and answers with the run or, with `stream`, its events. */
export function createStartRun({ publicFamily, openStreams }: Pick<CompatDeps, 'publicFamily' | 'openStreams'>) {
  return async function startRun(
    request: FastifyRequest,
    reply: FastifyReply,
    { assistant, thread, body, messagesOfNewThread }: RunRequest,
  ): Promise<CompatRun | FastifyReply> {
    refuseUnmetRun(body)
    const newRun = {
      thread,
      withThread: messagesOfNewThread !== undefined,
      assistant,
      input: [
        ...(messagesOfNewThread ?? []),
        ...messagesOf(body.additional_messages ?? [], ['body', 'additional_messages']),
      ],
      overrides: { ...overridesOf(body), ...instructionsOf(body) },
      acting: publicCallerOf(body),
      strategy: 'enqueue' as const,
      ...(body.metadata ? { metadataJson: checkFreeForm(['body', 'metadata'], body.metadata) } : {}),
    }
    const followed = await followOnce(request, {
      ...publicFamily.runsOf(assistant),
      start: (id) => publicFamily.start(newRun, id),
    })
    logRun(reply, followed.run)
    const about = publicFamily.about(assistant)
    if (!body.stream) {
      followed.feed.close()
      return toCompatRun(followed.run, about)
    }
    await answerIsFollowed(request)
    const reread = () => publicFamily.reread(followed.run)
    const { finished, stop } = streamThreadRun(reply, followed, {
      shapeOf: (shown) => toCompatRun(shown, about),
      reread,
      ...(messagesOfNewThread ? { newThread: toCompatThread({ ...thread, _id: followed.run.thread_id }) } : {}),
    })
    openStreams.track(finished, stop)
    return reply
  }
}

/** The run's own instructions are added to those of the assistant, not used in their place. */
function instructionsOf(body: CompatRunCreateRequest): { instructions?: string } {
  const instructions = [body.instructions, body.additional_instructions].filter(Boolean).join('\n\n')
  checkTextSize(instructions, maxMessageBytes.public, ['body', 'instructions'])
  return instructions === '' ? {} : { instructions }
}
