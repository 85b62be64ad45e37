import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import type { AssistantRecord } from '../../../domain/records/assistant.ts'
import { owns } from '../../../services/owner.ts'
import { holderOf, ownerOf, sessionOf, viewerOf } from '../../plugins/authentication.ts'
import { confirmFor, once, orNull } from '../../plugins/idempotency.ts'
import { ListPage, linkNextPart } from '../paging.ts'
import { PathId, refusals, toMaker } from '../schemas.ts'
import {
  Assistant,
  AssistantPayload,
  AssistantProjectUpdateRequest,
  PublicToken,
  makerOf,
  toAssistant,
} from './schemas.ts'

const params = Type.Object({ aid: PathId })
const config = { auth: 'project' } as const
const tags = ['assistants']

/** `/assistants`, without files and model accounts, which have plugins of their own. */
export const assistantRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  await app.register(listRoutes, deps)
  await app.register(oneAssistantRoutes, deps)
}

type Deps = Pick<Services, 'assistants' | 'makers'>

/** An assistant as its reader may see it. */
const assistantFor =
  ({ assistants, makers }: Deps) =>
  async (request: FastifyRequest, found: AssistantRecord[]) => {
    const owner = request.session === null ? undefined : ownerOf(request)
    // Who made it is for those who use its project.
    const own = found.filter((assistant) => owner !== undefined && owns(owner, assistant))
    const known = own.length === 0 ? [] : [sessionOf(request).user]
    const named = await makers(own.map(makerOf), known)
    return found.map((assistant) => {
      const viewerId = owner === undefined ? undefined : viewerOf(request, assistant)
      const config = assistants.toConfig(assistant, viewerId)
      return toAssistant(assistant, config, own.includes(assistant) ? toMaker(named, makerOf(assistant)) : null)
    })
  }

const createToAssistant = (deps: Deps) => {
  const show = assistantFor(deps)
  return async (request: FastifyRequest, assistant: AssistantRecord) => {
    const [shown] = await show(request, [assistant])
    if (shown === undefined) throw new Error('one assistant was shown')
    return shown
  }
}

const listRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const { assistants } = deps
  const show = assistantFor(deps)
  const toOne = createToAssistant(deps)

  app.get(
    '/assistants/',
    {
      config,
      schema: {
        operationId: 'assistants.list',
        summary: "The assistants of the token's project, oldest first; the header Link names the next page",
        tags,
        querystring: ListPage,
        response: { 200: Type.Array(Assistant), ...refusals(401, 403) },
      },
    },
    async (request, reply) => {
      const page = await assistants.list(holderOf(request), request.query)
      linkNextPart(request, reply, page)
      return show(request, page.entries)
    },
  )

  app.post(
    '/assistants/',
    {
      config: { ...config, idempotent: true, audit: 'successes', largeBody: 'object' },
      schema: {
        operationId: 'assistants.create',
        summary: 'Create an assistant',
        tags,
        body: AssistantPayload,
        response: { 200: Assistant, ...refusals(401, 403) },
      },
    },
    async (request) => {
      const caller = holderOf(request)
      const assistant = await once(request, {
        create: (id) => assistants.createUnder(caller, id, request.body),
        find: (id) => orNull(assistants.readOwn(ownerOf(request), id)),
      })
      return toOne(request, assistant)
    },
  )

  app.get(
    '/assistants/public/',
    {
      config: { auth: 'none' },
      schema: {
        operationId: 'assistants.listPublic',
        summary: 'The assistants that everybody may read, newest first; the header Link names the next page',
        tags,
        querystring: ListPage,
        response: { 200: Type.Array(Assistant), ...refusals(500) },
      },
    },
    async (request, reply) => {
      const page = await assistants.listPublic(request.query)
      linkNextPart(request, reply, page)
      return page.entries.map((assistant) => toAssistant(assistant, assistants.listedConfig(assistant)))
    },
  )
}

const oneAssistantRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const { assistants } = deps
  const show = createToAssistant(deps)

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
      const owner = request.session === null ? undefined : ownerOf(request)
      return show(request, await assistants.read(request.params.aid, owner))
    },
  )

  app.put(
    '/assistants/:aid',
    {
      config: { ...config, audit: 'successes', largeBody: 'object' },
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
      const caller = holderOf(request)
      return show(request, await assistants.put(caller, request.params.aid, request.body, ownerOf(request)))
    },
  )

  app.put(
    '/assistants/:aid/project',
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'assistants.move',
        summary: 'Move an assistant into another of your projects',
        description:
          'Its schedules, sources, files, facts and public conversations move with it. 409 names what cannot follow: vector stores, and schedules that ask in a conversation of the account.',
        tags,
        params,
        body: AssistantProjectUpdateRequest,
        response: { 200: Assistant, ...refusals(401, 403, 404, 409) },
      },
    },
    async (request) => {
      const { user } = sessionOf(request)
      return show(request, await assistants.move(user._id, request.params.aid, request.body.project_id))
    },
  )

  app.post(
    '/assistants/:aid/public-token',
    {
      config: { ...config, idempotent: true, audit: 'successes' },
      schema: {
        operationId: 'assistants.publicToken.renew',
        summary: 'Generate a strong public token that replaces the old one; the access mode does not change',
        tags,
        params,
        response: { 200: PublicToken, ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      const { aid } = request.params
      await confirmFor(request)()
      return { assistant_id: aid, public_token: await assistants.renewPublicToken(ownerOf(request), aid) }
    },
  )
}
