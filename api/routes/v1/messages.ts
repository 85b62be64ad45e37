import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../../../domain/errors.ts'
import type { LoggedMessage } from '../../../services/public/thread-messages.ts'
import { type WrittenFile, writtenBefore } from '../../../domain/responses/written-files.ts'
import { pageOf } from '../../../services/cursor-page.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { once } from '../../plugins/idempotency.ts'
import { MessageListQuery, ThreadMessageParams, ThreadParams, listOf } from '../public/thread-schemas.ts'
import { isDeleted, isShown, listPage } from '../public/compat-objects.ts'
import { citedWithin } from '../public/threads.ts'
import { messageInputOf } from './message-input.ts'
import { toV1Message } from './message-objects.ts'
import { V1Message, V1MessageRequest, V1MessageUpdateRequest } from './thread-schemas.ts'
import { type V1Deps, DeletedAnswer, operation, v1Config, v1Refusals } from './v1-route.ts'

/** `threads/{id}/messages` */
export const v1MessageRoutes: FastifyPluginAsyncTypebox<Pick<V1Deps, 'v1'>> = async (app, deps) => {
  await app.register(listRoutes, deps)
  await app.register(oneMessageRoutes, deps)
}

const readerOf = ({ threads, runs }: Pick<V1Deps['v1'], 'threads' | 'runs'>) => {
  /** The assistants of the runs that wrote these messages. */
  async function shaped(threadId: string, all: LoggedMessage[], wanted: LoggedMessage[]) {
    const assistants = await runs.assistantsOf(
      threadId,
      wanted.flatMap(({ runId }) => runId ?? []),
    )
    const cited = citedWithin(all, wanted)
    const written = writtenIn(all)
    return wanted.map((entry) => {
      const owner = { threadId, assistantId: assistants.get(entry.runId ?? '') ?? '' }
      const files = { cited: cited(entry), written: written.get(entry.message.data.id) ?? [] }
      return toV1Message(entry, owner, files, (id) => threads.linkOf(threadId, id))
    })
  }

  async function found(request: FastifyRequest<{ Params: { thread_id: string; message_id: string } }>) {
    const { thread_id: threadId, message_id: messageId } = request.params
    const { all, found: entry } = await threads.messageOf(callerOf(request), threadId, messageId)
    if (entry === undefined || !isShown(entry)) throw noMessage()
    return { threadId, all, entry }
  }

  return { shaped, found }
}

const listRoutes: FastifyPluginAsyncTypebox<Pick<V1Deps, 'v1'>> = async (app, { v1 }) => {
  const { threads } = v1
  const { shaped } = readerOf(v1)

  app.post(
    '/threads/:thread_id/messages',
    {
      config: { ...v1Config, idempotent: true, largeBody: 'messages' },
      schema: {
        ...operation('threads.messages.create', 'Add a message for later runs'),
        params: ThreadParams,
        body: V1MessageRequest,
        response: { 200: V1Message, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { thread_id: threadId } = request.params
      const message = messageInputOf(request.body, ['body'])
      const added = await once(request, {
        create: (id) => threads.addMessage(caller, threadId, message, id),
        find: (id) => threads.addedMessage(caller, threadId, id),
      })
      return first(await shaped(threadId, [], [added]))
    },
  )

  app.get(
    '/threads/:thread_id/messages',
    {
      config: v1Config,
      schema: {
        ...operation('threads.messages.list', 'The messages of a thread'),
        params: ThreadParams,
        querystring: MessageListQuery,
        response: { 200: listOf(V1Message, 'V1MessageList'), ...v1Refusals(404) },
      },
    },
    async (request) => {
      const { thread_id: threadId } = request.params
      const { run_id: runId, ...page } = request.query
      const all = await threads.messages(callerOf(request), threadId)
      const shown = all.filter((entry) => isShown(entry) && (runId === undefined || entry.runId === runId))
      const { entries, hasMore } = pageOf(shown, ({ message }) => message.data.id, page)
      return listPage({ entries: await shaped(threadId, all, entries), hasMore })
    },
  )
}

const oneMessageRoutes: FastifyPluginAsyncTypebox<Pick<V1Deps, 'v1'>> = async (app, { v1 }) => {
  const { threads } = v1
  const { shaped, found } = readerOf(v1)

  app.get(
    '/threads/:thread_id/messages/:message_id',
    {
      config: v1Config,
      schema: {
        ...operation('threads.messages.read', 'Read one message'),
        params: ThreadMessageParams,
        response: { 200: V1Message, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const { threadId, all, entry } = await found(request)
      return first(await shaped(threadId, all, [entry]))
    },
  )

  app.post(
    '/threads/:thread_id/messages/:message_id',
    {
      config: v1Config,
      schema: {
        ...operation('threads.messages.update', "Replace a message's metadata"),
        params: ThreadMessageParams,
        body: V1MessageUpdateRequest,
        response: { 200: V1Message, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const { threadId, all, entry } = await found(request)
      const { metadata } = request.body
      const message = metadata
        ? await threads.setMessageMetadata(callerOf(request), threadId, entry.message, metadata)
        : entry.message
      return first(await shaped(threadId, all, [{ ...entry, message }]))
    },
  )

  app.delete(
    '/threads/:thread_id/messages/:message_id',
    {
      config: { ...v1Config, audit: 'successes' },
      schema: {
        ...operation('threads.messages.delete', 'Delete what a message says, wherever it is stored'),
        params: ThreadMessageParams,
        response: { 200: DeletedAnswer('thread.message.deleted', 'V1MessageDeleted'), ...v1Refusals(404, 409) },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { thread_id: threadId, message_id: messageId } = request.params
      const { found: entry } = await threads.messageOf(caller, threadId, messageId)
      if (entry === undefined || !(isShown(entry) || isDeleted(entry))) throw noMessage()
      // Again if it is deleted already, because the first deletion may have been cut off.
      await threads.eraseMessage(caller, threadId, entry.message)
      if (isDeleted(entry)) throw noMessage()
      return { id: entry.message.data.id, object: 'thread.message.deleted' as const, deleted: true }
    },
  )
}

/** What code had written before each answer, in its run. */
function writtenIn(all: LoggedMessage[]): Map<string, WrittenFile[]> {
  const runs = Map.groupBy(all, ({ runId }) => runId)
  return new Map([...runs.values()].flatMap((ofRun) => [...writtenBefore(ofRun.map(({ message }) => message))]))
}

const noMessage = () => new AppError('not_found', 'There is no such message.')

function first<T>([entry]: T[]): T {
  if (entry === undefined) throw new Error('one message was shaped')
  return entry
}
