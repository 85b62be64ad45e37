import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { checkFreeForm } from '../../../domain/foreign-json.ts'
import { newId } from '../../../domain/ids.ts'
import { checkMessageSize, maxMessageBytes } from '../../../domain/message-size.ts'
import type { Message } from '../../../domain/messages.ts'
import { compatRefusals } from '../../plugins/compat-errors.ts'
import { once, orNull } from '../../plugins/idempotency.ts'
import { TokenHeader, assistantOf } from './caller.ts'
import { requireContent, textOf } from './client-messages.ts'
import { toCompatMessage, toCompatThread } from './compat-objects.ts'
import { type CompatDeps, compatConfig, operation } from './compat-route.ts'
import { refuseUnmetMessage, refuseUnmetThread } from './model-parameters.ts'
import { publicThreadFamily } from './thread-family.ts'
import { messageReadRoutes, threadReadRoutes } from './thread-routes.ts'
import {
  CompatMessage,
  CompatThread,
  CompatThreadCreateRequest,
  CompatThreadMessageRequest,
  CompatThreadUpdateRequest,
  ThreadParams,
} from './thread-schemas.ts'

/** `threads` and their messages. */
export const publicThreadRoutes: FastifyPluginAsyncTypebox<CompatDeps> = async (app, { publicFamily }) => {
  const { threads } = publicFamily
  const family = publicThreadFamily(publicFamily)

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

  await app.register(threadReadRoutes, { family })

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
      if (!metadata) return toCompatThread(await threads.read(assistantOf(request), threadId))
      return toCompatThread(await threads.setMetadata(assistantOf(request), threadId, metadata))
    },
  )

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

  await app.register(messageReadRoutes, { family })
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
