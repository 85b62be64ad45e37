import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { invalidInput } from '../../../domain/errors.ts'
import type { AssistantMembers } from '../../../services/v1/assistant-members.ts'
import type { OwnStore } from '../../../services/v1/assistants.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { once, orNull } from '../../plugins/idempotency.ts'
import { listPage } from '../public/compat-objects.ts'
import { formatText } from '../public/model-parameters.ts'
import { ListQuery } from '../public/thread-schemas.ts'
import { PathId } from '../schemas.ts'
import {
  AssistantShape,
  type NewToolResources,
  type V1ToolResources,
  V1AssistantCreateRequest,
  V1AssistantList,
  V1AssistantUpdateRequest,
  toAssistant,
} from './assistant-schemas.ts'
import { type V1Deps, DeletedAnswer, operation, toDeleted, v1Config, v1Refusals } from './v1-route.ts'
import { chunkingOf } from './vector-store-schemas.ts'

const params = Type.Object({ assistant_id: PathId })

/** `assistants`: those of the project. */
export const v1AssistantRoutes: FastifyPluginAsyncTypebox<Pick<V1Deps, 'v1'>> = async (app, { v1: { assistants } }) => {
  app.get(
    '/assistants',
    {
      config: v1Config,
      schema: {
        ...operation('assistants.list', 'The assistants of the project'),
        querystring: ListQuery,
        response: { 200: V1AssistantList, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const { entries, hasMore } = await assistants.list(callerOf(request), request.query)
      return listPage({ entries: entries.map(toAssistant), hasMore })
    },
  )

  app.post(
    '/assistants',
    {
      config: { ...v1Config, idempotent: true, audit: 'successes', largeBody: 'object' },
      schema: {
        ...operation('assistants.create', 'Create an assistant'),
        body: V1AssistantCreateRequest,
        response: { 200: AssistantShape, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const members = {
        ...membersOf(request.body),
        ownStore: ownStoreOf(request.body.tool_resources, ['body', 'tool_resources']),
      }
      return toAssistant(
        await once(request, {
          create: (id) => assistants.create(caller, members, id),
          find: (id) => orNull(assistants.read(caller, id)),
        }),
      )
    },
  )

  app.get(
    '/assistants/:assistant_id',
    {
      config: v1Config,
      schema: {
        ...operation('assistants.read', 'Read an assistant'),
        params,
        response: { 200: AssistantShape, ...v1Refusals(404) },
      },
    },
    async (request) => toAssistant(await assistants.read(callerOf(request), request.params.assistant_id)),
  )

  app.post(
    '/assistants/:assistant_id',
    {
      config: { ...v1Config, audit: 'successes', largeBody: 'object' },
      schema: {
        ...operation('assistants.update', 'Change members of an assistant'),
        params,
        body: V1AssistantUpdateRequest,
        response: { 200: AssistantShape, ...v1Refusals(404, 409) },
      },
    },
    async (request) => {
      const members = membersOf(request.body)
      return toAssistant(await assistants.update(callerOf(request), request.params.assistant_id, members))
    },
  )

  app.delete(
    '/assistants/:assistant_id',
    {
      config: { ...v1Config, audit: 'successes' },
      schema: {
        ...operation('assistants.delete', 'Delete an assistant with its own files and its public threads'),
        params,
        response: {
          200: DeletedAnswer('assistant.deleted', 'V1AssistantDeleted', 'The deletion of an assistant.'),
          ...v1Refusals(404),
        },
      },
    },
    async (request) => {
      const { assistant_id: id } = request.params
      return toDeleted('assistant.deleted', id, await assistants.remove(callerOf(request), id))
    },
  )
}

/** A vector store that a request describes. */
export function ownStoreOf(
  resources: NewToolResources | null | undefined,
  at: (string | number)[],
): OwnStore | undefined {
  const { vector_stores: [asked] = [], vector_store_ids: ids = [] } = resources?.file_search ?? {}
  if (asked === undefined) return undefined
  const loc = [...at, 'file_search', 'vector_stores']
  if (ids.length > 0) throw invalidInput(loc, 'name either vector_store_ids or vector_stores')
  const { file_ids: fileIds = [], chunking_strategy: cut, metadata } = asked
  const chunking = chunkingOf(cut, [...loc, 0, 'chunking_strategy'])
  return { metadata, files: fileIds.map((fileId) => ({ fileId, chunking })) }
}

/** The files for code that a request names; nothing: it says nothing about them. */
export function codeFilesOf(resources: V1ToolResources | null | undefined): { codeFiles?: string[] } {
  const code = resources === null ? null : resources?.code_interpreter
  if (code === undefined) return {}
  const ids = code === null ? [] : code.file_ids
  return ids === undefined ? {} : { codeFiles: [...new Set(ids)] }
}

function membersOf(body: V1AssistantUpdateRequest): AssistantMembers {
  if (typeof body.response_format === 'object' && body.response_format !== null) formatText(body.response_format)
  const { name, description, instructions, model, temperature, tools, metadata, tool_resources: resources } = body
  const { top_p: topP, response_format: responseFormat, reasoning_effort: reasoningEffort } = body
  const vectorStores = resources === null ? [] : resources?.file_search?.vector_store_ids
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(model === undefined ? {} : { model }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(responseFormat === undefined ? {} : { responseFormat }),
    ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
    ...(tools === undefined ? {} : { tools }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(vectorStores === undefined ? {} : { vectorStores }),
    ...codeFilesOf(resources),
  }
}
