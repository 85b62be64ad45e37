import type { FastifyReply, FastifyRequest } from 'fastify'
import { checkFreeForm } from '../../../domain/free-form.ts'
import type { RunRecord } from '../../../domain/records/run.ts'
import { searchOf } from '../../../domain/search-override.ts'
import type { ThreadRecord } from '../../../domain/records/thread.ts'
import type { RunView } from '../../../domain/run-events.ts'
import type { FollowedRun } from '../../../services/runs/index.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { answerIsFollowed } from '../../plugins/idempotency.ts'
import { logRun } from '../../plugins/logging.ts'
import type { OpenStreams } from '../../sse/open-streams.ts'
import { streamThreadRun } from '../public/stream-thread-run.ts'
import { followOnce } from '../runs/follow-once.ts'
import type { OwnStore } from '../../../services/v1/assistants.ts'
import type { V1MessageInput } from '../../../services/v1/receive-messages.ts'
import { messageInputsOf } from './message-input.ts'
import { v1ThreadShape } from './message-shapes.ts'
import { v1OverridesOf } from './run-overrides.ts'
import type { V1Run, V1RunCreateRequest } from './run-schemas.ts'
import { type AssistantOfRun, v1RunShape } from './run-shapes.ts'
import { includesResults, v1StepShape } from './step-shapes.ts'
import type { V1Deps } from './v1-route.ts'

export type V1RunDeps = Pick<V1Deps, 'v1'> & { openStreams: OpenStreams }

/** Starts runs on `/v1` and streams them. */
export function createV1RunStarts({ v1: { runs, threads, assistants }, openStreams }: V1RunDeps) {
  /** Sends the events of a run, up to its end or to the calls for which it waits. */
  function stream(
    request: FastifyRequest,
    reply: FastifyReply,
    followed: FollowedRun,
    assistant: AssistantOfRun,
    more: { newThread?: object; resumedFrom?: RunView } = {},
  ): FastifyReply {
    const { finished, stop } = streamThreadRun(reply, followed, {
      ...more,
      isWhole: true,
      stepShapeOf: (step) => v1StepShape(step, includesResults(request)),
      shapeOf: (run) => v1RunShape({ run, calls: [] }, assistant),
      reread: () => runs.reread(followed.run),
      async waitingShapeOf(run: RunRecord) {
        const waiting = await runs.withOwnCalls(run)
        return waiting.calls.length === 0 ? undefined : v1RunShape(waiting, assistant)
      },
    })
    openStreams.track(finished, stop)
    return reply
  }

  async function start(
    request: FastifyRequest,
    reply: FastifyReply,
    {
      body,
      thread,
      created,
      stores,
    }: {
      body: V1RunCreateRequest
      thread: ThreadRecord
      /** Of a thread that is stored with its run: its first messages, and the vector store that is made for it. */
      created?: { messages: V1MessageInput[]; ownStore: OwnStore | undefined }
      /** What the run searches in place of what its assistant searches. */
      stores?: string[] | undefined
    },
  ): Promise<V1Run | FastifyReply> {
    const caller = callerOf(request)
    const { record, shown } = await assistants.find(caller, body.assistant_id)
    const { additional_messages: added, metadata } = body
    const { messages: first, ownStore } = created ?? { messages: [], ownStore: undefined }
    const given = [...first, ...messageInputsOf(added ?? [], ['body', 'additional_messages'])]
    const received = await threads.receive(caller, given, (index) =>
      index < first.length
        ? ['body', 'thread', 'messages', index]
        : ['body', 'additional_messages', index - first.length],
    )
    await threads.prepareStores(caller, { vectorStores: stores })
    const overrides = v1OverridesOf(body, runs.expireSeconds)
    const newRun = {
      assistant: record,
      acting: { person: 'owner', origin: 'chat' } as const,
      input: received.messages,
      attachments: received.attachments,
      inputLoc: ['body', 'additional_messages'],
      strategy: 'reject' as const,
      ...(metadata ? { metadataJson: checkFreeForm(['body', 'metadata'], metadata) } : {}),
    }
    const followed = await followOnce(request, {
      start: async (id) => {
        const isNew = created !== undefined
        const planned = await threads.plannedStores(caller, thread, { isNew, fileIds: received.fileIds, ownStore })
        const search = searchOf(planned.thread, stores)
        return runs.start({ ...newRun, ...planned, withThread: isNew, overrides: { ...overrides, ...search } }, id)
      },
      find: (id) => runs.get(caller, id),
      follow: runs.follow,
    })
    logRun(reply, followed.run)
    if (!body.stream) {
      followed.feed.close()
      return v1RunShape({ run: followed.run, calls: [] }, shown)
    }
    await answerIsFollowed(request)
    const newThread = created ? await threads.find(caller, followed.run.thread_id) : undefined
    return stream(request, reply, followed, shown, newThread ? { newThread: v1ThreadShape(newThread) } : {})
  }

  return { start, stream }
}
