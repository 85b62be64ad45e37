import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { placeOf, sessionOf } from '../../plugins/authentication.ts'
import { PathId, refusals } from '../schemas.ts'
import { Assistant, AssistantPayload, AssistantProjectUpdateRequest, showAssistant } from './schemas.ts'

const params = Type.Object({ aid: PathId })
const config = { auth: 'project' } as const
const tags = ['assistants']

/** `/assistants`, without their files and accounts, which have plugins of their own. */
export const assistantRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'assistants'>> = async (app, { assistants }) => {
  app.get(
    '/assistants/',
    {
      config,
      schema: {
        operationId: 'assistants.list',
        summary: "The assistants of the token's project",
        tags,
        response: { 200: Type.Array(Assistant), ...refusals(401, 403) },
      },
    },
    async (request) => {
      const place = placeOf(request)
      return (await assistants.list(place)).map((assistant) => showAssistant(assistant, place.userId))
    },
  )

  app.post(
    '/assistants/',
    {
      config,
      schema: {
        operationId: 'assistants.create',
        summary: 'Create an assistant',
        tags,
        body: AssistantPayload,
        response: { 200: Assistant, ...refusals(401, 403) },
      },
    },
    async (request) => {
      const place = placeOf(request)
      return showAssistant(await assistants.create(place, request.body), place.userId)
    },
  )

  app.get(
    '/assistants/public/',
    {
      config: { auth: 'none' },
      schema: {
        operationId: 'assistants.listPublic',
        summary: 'The assistants that are open to everybody',
        tags,
        response: { 200: Type.Array(Assistant), ...refusals(500) },
      },
    },
    async () => (await assistants.listPublic()).map((assistant) => showAssistant(assistant, undefined)),
  )

  app.get(
    '/assistants/:aid',
    {
      config: { auth: 'optional-user' },
      schema: {
        operationId: 'assistants.read',
        summary: 'Read an assistant: your own, or a public one',
        tags,
        params,
        response: { 200: Assistant, ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      const viewerId = request.session?.user._id
      return showAssistant(await assistants.read(request.params.aid, viewerId), viewerId)
    },
  )

  app.put(
    '/assistants/:aid',
    {
      config,
      schema: {
        operationId: 'assistants.put',
        summary: 'Replace an assistant, or create it under this id',
        tags,
        params,
        body: AssistantPayload,
        response: { 200: Assistant, ...refusals(401, 403, 409) },
      },
    },
    async (request) => {
      const place = placeOf(request)
      return showAssistant(await assistants.put(place, request.params.aid, request.body), place.userId)
    },
  )

  app.put(
    '/assistants/:aid/project',
    {
      config,
      schema: {
        operationId: 'assistants.move',
        summary: 'Move an assistant into another of your projects',
        tags,
        params,
        body: AssistantProjectUpdateRequest,
        response: { 200: Assistant, ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      const { user } = sessionOf(request)
      return showAssistant(await assistants.move(user._id, request.params.aid, request.body.project_id), user._id)
    },
  )
}
