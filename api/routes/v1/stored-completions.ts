import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import { readClientFunctions } from '../../../domain/client-tools.ts'
import { invalidInput } from '../../../domain/errors.ts'
import { objectFromJsonText } from '../../../domain/json.ts'
import type { Message } from '../../../domain/messages.ts'
import { type RunView, emptyView } from '../../../domain/run-events.ts'
import { pageOf } from '../../../services/cursor-page.ts'
import type { StoredCompletion } from '../../../services/v1/stored-completions.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { ChatCompletion } from '../public/chat-schemas.ts'
import { listPage } from '../public/compat-objects.ts'
import { chatCompletion } from '../public/completion.ts'
import { ListQuery, listOf } from '../public/thread-schemas.ts'
import { PathId } from '../schemas.ts'
import {
  CompletionListQuery,
  type CompletionMessage,
  CompletionMessageList,
  CompletionUpdateRequest,
} from './chat-schemas.ts'
import { type V1Deps, DeletedAnswer, operation, toDeleted, v1Config, v1Refusals } from './v1-route.ts'

const params = Type.Object({ completion_id: PathId })
const CompletionList = listOf(ChatCompletion, 'V1ChatCompletionList', 'A page of stored completions.')
const prefix = 'chatcmpl-'

/** `chat/completions` that were stored. */
export const v1StoredCompletionRoutes: FastifyPluginAsyncTypebox<Pick<V1Deps, 'v1'>> = async (
  app,
  { v1: { completions } },
) => {
  app.get(
    '/chat/completions',
    {
      config: v1Config,
      schema: {
        ...operation(
          'chat.completions.list',
          'The stored completions of the project',
          'With `metadata[key]=value`, those that have this metadata.',
        ),
        querystring: CompletionListQuery,
        response: { 200: CompletionList, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const { model, after, before, order, limit } = request.query
      const page = { order, limit, after: after && runIdOf(after), before: before && runIdOf(before) }
      const filter = { model, metadata: metadataFilter(request.query) }
      const { entries, hasMore } = await completions.list(callerOf(request), page, filter)
      return listPage({ entries: entries.map(shown), hasMore })
    },
  )

  app.get(
    '/chat/completions/:completion_id',
    {
      config: v1Config,
      schema: {
        ...operation('chat.completions.read', 'Read a stored completion'),
        params,
        response: { 200: ChatCompletion, ...v1Refusals(404) },
      },
    },
    async (request) => shown(await completions.read(callerOf(request), runIdOf(request.params.completion_id))),
  )

  app.post(
    '/chat/completions/:completion_id',
    {
      config: v1Config,
      schema: {
        ...operation('chat.completions.update', "Replace a stored completion's metadata"),
        params,
        body: CompletionUpdateRequest,
        response: { 200: ChatCompletion, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const id = runIdOf(request.params.completion_id)
      return shown(await completions.update(callerOf(request), id, request.body.metadata ?? {}))
    },
  )

  app.delete(
    '/chat/completions/:completion_id',
    {
      config: { ...v1Config, audit: 'successes' },
      schema: {
        ...operation('chat.completions.delete', 'Delete a stored completion with its messages'),
        params,
        response: {
          200: DeletedAnswer(
            'chat.completion.deleted',
            'V1DeletedChatCompletion',
            'The deletion of a stored completion.',
          ),
          ...v1Refusals(404),
        },
      },
    },
    async (request) => {
      const { completion_id: id } = request.params
      return toDeleted('chat.completion.deleted', id, await completions.remove(callerOf(request), runIdOf(id)))
    },
  )

  app.get(
    '/chat/completions/:completion_id/messages',
    {
      config: v1Config,
      schema: {
        ...operation('chat.completions.messages.list', 'The messages that a stored completion answers'),
        params,
        querystring: ListQuery,
        response: { 200: CompletionMessageList, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const id = runIdOf(request.params.completion_id)
      const messages = await completions.input(callerOf(request), id)
      const { entries, hasMore } = pageOf(messages, ({ data }) => data.id, request.query)
      return listPage({ entries: entries.map(toCompatMessage), hasMore })
    },
  )
}

/** A completion has the id of its first run; an id without the prefix is that of none. */
const runIdOf = (id: string) => (id.startsWith(prefix) ? id.slice(prefix.length) : '')

const maxFilters = 16

/** Clients write `metadata` as `metadata[key]=value`. */
function metadataFilter(query: object): Record<string, string> {
  const found = Object.entries(query).flatMap(([name, value]: [string, unknown]) => {
    const [, key] = /^metadata\[(.{1,64})\]$/s.exec(name) ?? []
    if (key === undefined) return []
    if (typeof value !== 'string') throw invalidInput(['query', name], 'must be one text')
    return [[key, value] as const]
  })
  if (found.length > maxFilters) throw invalidInput(['query', 'metadata'], `has more than ${maxFilters} members`)
  return Object.fromEntries(found)
}

function shown({ run, answers }: StoredCompletion): Static<typeof ChatCompletion> {
  const functions = readClientFunctions(run.overrides.tools_json).map(({ name }) => name)
  return chatCompletion(
    {
      run,
      model: run.completion.model,
      clientTools: new Set([...functions, ...(run.completion.client_tools ?? [])]),
      showsReasoning: true,
      metadata: run.metadata_json === undefined ? {} : objectFromJsonText(run.metadata_json),
    },
    answers.map(toView),
  )
}

function toView(messages: Message[]): RunView {
  const view = emptyView()
  for (const message of messages) {
    const { id } = message.data
    view.messages.set(id, { id, changedAt: view.at, content: { whole: message } })
  }
  return view
}

const roles = { HumanMessage: 'user', AIMessage: 'assistant', ToolMessage: 'tool', SystemMessage: 'system' } as const

function toCompatMessage(message: Message): Static<typeof CompletionMessage> {
  const { id, content, name } = message.data
  const calls = message.type === 'AIMessage' ? (message.data.tool_calls ?? []) : []
  const parts = message.type === 'HumanMessage' ? message.data.parts : undefined
  return {
    id,
    role: roles[message.type],
    content,
    ...(name === undefined ? {} : { name }),
    content_parts: parts?.map((part) => (part.type === 'text' ? part : { type: partTypes[part.type] })) ?? null,
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(toCompatCall) }),
    ...(message.type === 'ToolMessage' ? { tool_call_id: message.data.tool_call_id } : {}),
  }
}

const partTypes = { image: 'image_url', audio: 'input_audio', file: 'file' } as const

function toCompatCall({ id, name, args }: { id: string; name: string; args: object }) {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(args) } }
}
