import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import { checkFreeForm } from '../../../domain/foreign-json.ts'
import { objectFromJsonText } from '../../../domain/json.ts'
import { Metadata } from '../../../domain/metadata.ts'
import type { ThreadRecord } from '../../../domain/records/thread.ts'
import { conversationId } from '../../../domain/responses/ids.ts'
import { ResponseItem } from '../../../domain/responses/items.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { once, orNull } from '../../plugins/idempotency.ts'
import { listPage, secondsOf } from '../public/compat-objects.ts'
import { ListQuery } from '../public/thread-schemas.ts'
import { nullable } from '../schemas.ts'
import { IncludeQuery, includedIn } from './responses/included.ts'
import { InputItem } from './responses/input-schemas.ts'
import { readInput } from './responses/read-input.ts'
import { ResponseItemList } from './responses/response-schemas.ts'
import { type V1Deps, DeletedAnswer, operation, toDeleted, strict, v1Config, v1Refusals } from './v1-route.ts'

const id = Type.String({ minLength: 1, maxLength: 200 })
const params = Type.Object({ conversation_id: id })
const itemParams = Type.Object({ conversation_id: id, item_id: id })
/** As many as OpenAI's interface takes at once. */
const items = Type.Array(InputItem, { maxItems: 20 })

const Conversation = Type.Object(
  { id: Type.String(), object: Type.Literal('conversation'), created_at: Type.Integer(), metadata: Metadata },
  { title: 'V1Conversation', about: 'A conversation, whose responses follow each other.' },
)
const ConversationCreateRequest = strict(
  { items: Type.Optional(nullable(items)), metadata: Type.Optional(nullable(Metadata)) },
  { title: 'V1ConversationCreateRequest', about: 'A new conversation, and its first items.' },
)
const ConversationUpdateRequest = strict(
  { metadata: nullable(Metadata) },
  { title: 'V1ConversationUpdateRequest', about: 'The new metadata of a conversation.' },
)
const ItemsCreateRequest = strict(
  { items },
  { title: 'V1ConversationItemsCreateRequest', about: 'Items to add to a conversation.' },
)

/** `conversations`: threads whose messages are shown as items. */
export const v1ConversationRoutes: FastifyPluginAsyncTypebox<Pick<V1Deps, 'v1'>> = async (
  app,
  { v1: { conversations } },
) => {
  app.post(
    '/conversations',
    {
      config: { ...v1Config, idempotent: true, largeBody: 'messages' },
      schema: {
        ...operation('conversations.create', 'Create a conversation', 'It takes a place of the quota of threads.'),
        body: Type.Optional(ConversationCreateRequest),
        response: { 200: Conversation, ...v1Refusals(404, 413) },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { items: given, metadata } = request.body ?? {}
      const entries = readInput(given ?? [], ['body', 'items'])
      const metadataJson = checkFreeForm(['body', 'metadata'], metadata ?? {})
      return show(
        await once(request, {
          create: (threadId) => conversations.create(caller, { entries, metadataJson }, threadId),
          find: (threadId) => orNull(conversations.finishCreation(caller, entries, threadId)),
        }),
      )
    },
  )

  app.get(
    '/conversations/:conversation_id',
    {
      config: v1Config,
      schema: {
        ...operation('conversations.read', 'Read a conversation'),
        params,
        response: { 200: Conversation, ...v1Refusals(404) },
      },
    },
    async (request) => show(await conversations.find(callerOf(request), request.params.conversation_id)),
  )

  app.post(
    '/conversations/:conversation_id',
    {
      config: v1Config,
      schema: {
        ...operation('conversations.update', 'Change the metadata of a conversation'),
        params,
        body: ConversationUpdateRequest,
        response: { 200: Conversation, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const metadataJson = checkFreeForm(['body', 'metadata'], request.body.metadata ?? {})
      return show(await conversations.update(callerOf(request), request.params.conversation_id, metadataJson))
    },
  )

  app.delete(
    '/conversations/:conversation_id',
    {
      config: { ...v1Config, audit: 'successes' },
      schema: {
        ...operation('conversations.delete', 'Delete a conversation with its items and responses'),
        params,
        response: {
          200: DeletedAnswer('conversation.deleted', 'V1ConversationDeleted', 'The deletion of a conversation.'),
          ...v1Refusals(404),
        },
      },
    },
    async (request) => {
      const { conversation_id: named } = request.params
      return toDeleted('conversation.deleted', named, await conversations.remove(callerOf(request), named))
    },
  )

  app.get(
    '/conversations/:conversation_id/items',
    {
      config: v1Config,
      schema: {
        ...operation('conversations.items.list', 'The items of a conversation'),
        params,
        querystring: Type.Object({ ...ListQuery.properties, ...IncludeQuery }),
        response: { 200: ResponseItemList, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const { conversation_id: named } = request.params
      return listPage(await conversations.items(callerOf(request), named, request.query, includedIn(request.query)))
    },
  )

  app.post(
    '/conversations/:conversation_id/items',
    {
      config: { ...v1Config, largeBody: 'messages' },
      schema: {
        ...operation('conversations.items.create', 'Add items to a conversation'),
        params,
        querystring: Type.Object(IncludeQuery),
        body: ItemsCreateRequest,
        response: { 200: ResponseItemList, ...v1Refusals(404, 413) },
      },
    },
    async (request) => {
      const entries = readInput(request.body.items, ['body', 'items'])
      const added = await conversations.addItems(callerOf(request), request.params.conversation_id, entries)
      return listPage({ entries: added, hasMore: false })
    },
  )

  app.get(
    '/conversations/:conversation_id/items/:item_id',
    {
      config: v1Config,
      schema: {
        ...operation('conversations.items.read', 'Read an item of a conversation'),
        params: itemParams,
        querystring: Type.Object(IncludeQuery),
        response: { 200: ResponseItem, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const { conversation_id: named, item_id: itemId } = request.params
      return conversations.item(callerOf(request), named, itemId, includedIn(request.query))
    },
  )

  app.delete(
    '/conversations/:conversation_id/items/:item_id',
    {
      config: { ...v1Config, audit: 'successes' },
      schema: {
        ...operation('conversations.items.delete', 'Delete an item of a conversation'),
        params: itemParams,
        response: { 200: Conversation, ...v1Refusals(404, 409) },
      },
    },
    async (request) => {
      const { conversation_id: named, item_id: itemId } = request.params
      return show(await conversations.removeItem(callerOf(request), named, itemId))
    },
  )
}

function show({ _id, created_at: created, metadata_json: metadata }: ThreadRecord): Static<typeof Conversation> {
  return {
    id: conversationId(_id),
    object: 'conversation',
    created_at: secondsOf(created),
    metadata: objectFromJsonText(metadata) as Metadata,
  }
}
