import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AppError } from '../../../domain/errors.ts'
import { checkFreeForm } from '../../../domain/free-form.ts'
import { newId } from '../../../domain/ids.ts'
import { citedFilesOf } from '../../../domain/knowledge/citations.ts'
import { checkMessageSize, maxMessageBytes } from '../../../domain/message-size.ts'
import type { Message } from '../../../domain/messages.ts'
import type { LoggedMessage } from '../../../services/public/thread-messages.ts'
import { pageOf } from '../../../services/cursor-page.ts'
import { compatRefusals } from '../../plugins/compat-errors.ts'
import { once, orNull } from '../../plugins/idempotency.ts'
import { TokenHeader, assistantOf } from './caller.ts'
import { requireContent, textOf } from './client-messages.ts'
import { type CompatDeps, compatConfig, operation } from './compat-route.ts'
import {
  CompatMessage,
  CompatThread,
  CompatThreadCreateRequest,
  CompatThreadMessageRequest,
  CompatThreadUpdateRequest,
  MessageListQuery,
  ThreadMessageParams,
  ThreadParams,
  listOf,
} from './thread-schemas.ts'
import { isShown, listPage, toCompatMessage, toCompatThread } from './compat-objects.ts'
import { refuseUnmetMessage, refuseUnmetThread } from './unmet-demands.ts'

/** `threads` and their messages. */
export const publicThreadRoutes: FastifyPluginAsyncTypebox<CompatDeps> = async (app, deps) => {
  await app.register(threadRoutes, deps)
  await app.register(messageRoutes, deps)
}

const threadRoutes: FastifyPluginAsyncTypebox<CompatDeps> = async (app, { publicFamily }) => {
  const { threads } = publicFamily

  app.post(
    '/threads',
    {
      config: { ...compatConfig, idempotent: true },
      schema: {
        ...operation('threads.create', 'Begin a conversation'),
        headers: TokenHeader,
        body: CompatThreadCreateRequest,
        response: { 200: CompatThread, ...compatRefusals },
      },
    },
    async (request) => {
      const assistant = assistantOf(request)
      const thread = newThreadOf(request.body, ['body'])
      return toCompatThread(
        await once(request, {
          create: (id) => threads.create(assistant, thread, id),
          find: (id) => orNull(threads.finishCreation(assistant, thread, id)),
        }),
      )
    },
  )

  app.get(
    '/threads/:thread_id',
    {
      config: compatConfig,
      schema: {
        ...operation('threads.read', 'Read a thread'),
        headers: TokenHeader,
        params: ThreadParams,
        response: { 200: CompatThread, ...compatRefusals },
      },
    },
    async (request) => toCompatThread(await threads.findOf(assistantOf(request), request.params.thread_id)),
  )

  app.post(
    '/threads/:thread_id',
    {
      config: compatConfig,
      schema: {
        ...operation('threads.update', "Replace a thread's metadata"),
        headers: TokenHeader,
        params: ThreadParams,
        body: CompatThreadUpdateRequest,
        response: { 200: CompatThread, ...compatRefusals },
      },
    },
    async (request) => {
      const { thread_id: threadId } = request.params
      const { metadata } = request.body
      refuseUnmetThread(request.body, ['body'])
      if (!metadata) return toCompatThread(await threads.findOf(assistantOf(request), threadId))
      return toCompatThread(await threads.setMetadata(assistantOf(request), threadId, metadata))
    },
  )
}

const messageRoutes: FastifyPluginAsyncTypebox<CompatDeps> = async (app, { publicFamily }) => {
  const { threads } = publicFamily

  app.post(
    '/threads/:thread_id/messages',
    {
      config: { ...compatConfig, idempotent: true },
      schema: {
        ...operation('threads.messages.create', 'Add a message for later runs'),
        headers: TokenHeader,
        params: ThreadParams,
        body: CompatThreadMessageRequest,
        response: { 200: CompatMessage, ...compatRefusals },
      },
    },
    async (request) => {
      const assistant = assistantOf(request)
      const { thread_id: threadId } = request.params
      const message = messageOf(request.body, ['body'])
      const added = await once(request, {
        create: (id) => threads.addMessage(assistant, threadId, message, id),
        find: (id) => threads.addedMessage(assistant, threadId, id),
      })
      return toCompatMessage(added, { threadId, assistantId: assistant._id })
    },
  )

  app.get(
    '/threads/:thread_id/messages',
    {
      config: compatConfig,
      schema: {
        ...operation('threads.messages.list', 'The messages of a thread'),
        headers: TokenHeader,
        params: ThreadParams,
        querystring: MessageListQuery,
        response: { 200: listOf(CompatMessage, 'CompatMessageList'), ...compatRefusals },
      },
    },
    async (request) => {
      const { _id: assistantId } = assistantOf(request)
      const { thread_id: threadId } = request.params
      const { run_id: runId, ...page } = request.query
      const all = await threads.messages(assistantOf(request), threadId)
      const shown = all.filter((entry) => isShown(entry) && (runId === undefined || entry.runId === runId))
      const { entries, hasMore } = pageOf(shown, ({ message }) => message.data.id, page)
      const shape = shapeWithin(all, entries, { threadId, assistantId })
      return listPage({ entries: entries.map(shape), hasMore })
    },
  )

  app.get(
    '/threads/:thread_id/messages/:message_id',
    {
      config: compatConfig,
      schema: {
        ...operation('threads.messages.read', 'Read one message'),
        headers: TokenHeader,
        params: ThreadMessageParams,
        response: { 200: CompatMessage, ...compatRefusals },
      },
    },
    async (request) => {
      const { _id: assistantId } = assistantOf(request)
      const { thread_id: threadId, message_id: messageId } = request.params
      const all = await threads.messages(assistantOf(request), threadId)
      const found = all.find((entry) => isShown(entry) && entry.message.data.id === messageId)
      if (found === undefined) throw new AppError('not_found', 'There is no such message.')
      return shapeWithin(all, [found], { threadId, assistantId })(found)
    },
  )
}

/** Shapes some messages of a thread: their citations are of files that their runs have found. */
export function shapeWithin(
  all: LoggedMessage[],
  wanted: LoggedMessage[],
  owner: { threadId: string; assistantId: string },
) {
  const cited = citedWithin(all, wanted)
  return (entry: LoggedMessage) => toCompatMessage(entry, owner, cited(entry))
}

/** The files that the runs of these messages have found. */
export function citedWithin(all: LoggedMessage[], wanted: LoggedMessage[]) {
  const runIds = new Set(wanted.flatMap(({ runId }) => (runId === undefined ? [] : [runId])))
  const cited = citedFilesOf(runIds, all)
  return (entry: LoggedMessage) => cited.get(entry.runId ?? '')
}

type NewMessages = { messages?: CompatThreadMessageRequest[] | null; metadata?: Record<string, unknown> | null }

/** The members of a request for a new thread. */
export function newThreadOf(thread: NewMessages, loc: (string | number)[], maxBytes?: number) {
  refuseUnmetThread(thread, loc)
  return {
    metadata: thread.metadata ?? undefined,
    messages: messagesOf(thread.messages ?? [], [...loc, 'messages'], maxBytes),
  }
}

export function messagesOf(
  messages: CompatThreadMessageRequest[],
  loc: (string | number)[],
  maxBytes?: number,
): Message[] {
  return messages.map((message, index) => messageOf(message, [...loc, index], maxBytes))
}

export function messageOf(
  given: CompatThreadMessageRequest,
  loc: (string | number)[],
  maxBytes: number = maxMessageBytes.public,
): Message {
  refuseUnmetMessage(given, loc)
  const { role, content, metadata } = given
  if (role === 'user') requireContent(content, [...loc, 'content'])
  if (metadata) checkFreeForm([...loc.map(String), 'metadata'], metadata)
  const message: Message = {
    type: role === 'user' ? 'HumanMessage' : 'AIMessage',
    data: { id: newId(), content: textOf(content, [...loc, 'content']), ...(metadata ? { metadata } : {}) },
  }
  checkMessageSize(message, maxBytes, loc)
  return message
}
