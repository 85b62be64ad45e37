import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { AppError } from '../../../domain/errors.ts'
import { parseScimFilter } from '../../../domain/scim/filter.ts'
import { readPatch } from '../../../domain/scim/patch.ts'
import { ScimError } from '../../../domain/scim/scim-error.ts'
import { readScimUser, scimLimits } from '../../../domain/scim/user.ts'
import { type ErrorDeps, type ErrorShape, installErrors } from '../../plugins/errors.ts'
import { PathId, freeForm } from '../schemas.ts'
import { located, resourceTypes, schemas, serviceProvider } from './discovery.ts'
import { type IncludedNames, chosenOf, listOf, toGroup, toUser } from './resources.ts'

interface Deps extends Pick<Services, 'scim'> {
  errors: ErrorDeps
  baseUrl: string
}

const prefix = '/scim/v2'
const mediaType = 'application/scim+json; charset=utf-8'
const config = { auth: 'scim' } as const
const changed = { ...config, audit: 'successes' } as const
const params = Type.Object({ id: PathId })
const body = freeForm('A resource, or the operations of a PATCH.')
const Shown = Type.Object({
  attributes: Type.Optional(Type.String({ maxLength: 2000 })),
  excludedAttributes: Type.Optional(Type.String({ maxLength: 2000 })),
})
const listMembers = {
  filter: Type.Optional(Type.String({ maxLength: 4000 })),
  startIndex: Type.Optional(Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647 })),
  count: Type.Optional(Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647 })),
}
const ListQuery = Type.Object({ ...Shown.properties, ...listMembers })
const Names = Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { maxItems: 100 }))
/** A list that is asked for by a body: RFC 7644, section 3.4.3. */
const Search = Type.Object({ attributes: Names, excludedAttributes: Names, ...listMembers })
type ListRequest = Omit<Static<typeof Search>, keyof IncludedNames> & IncludedNames

/** Described by `/Schemas` and RFC 7644, not by the description of the API. */
const hidden = (operationId: string, more: object = {}) => ({ hide: true, operationId, ...more })

/** Errors as RFC 7644, section 3.12, has them. */
const scimErrors: ErrorShape = {
  bodyOf: (_body, error) => ({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(statusOf(error)),
    ...(error instanceof ScimError ? { scimType: error.scimType } : {}),
    detail: error.fields?.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ') ?? error.message,
  }),
  statusOf,
}

function statusOf(error: AppError): number {
  return error.code === 'invalid_input' ? 400 : error.status
}

/** `/scim/v2`: users and groups, as provisioning systems create and end them (SCIM 2.0, RFC 7643 and 7644). */
export const scimRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  await app.register(
    async (scope: FastifyInstance) => {
      installErrors(scope, deps.errors, scimErrors)
      scope.addHook('onSend', async (_request, reply) => {
        if (reply.getHeader('content-type') !== undefined) reply.header('content-type', mediaType)
      })
      await scope.register(discoveryRoutes, deps)
      await scope.register(userRoutes, deps)
      await scope.register(groupRoutes, deps)
      await scope.register(searchRoutes, deps)
    },
    { prefix },
  )
}

/** From 1, as SCIM counts; what is too small or too large is brought within the limits. */
function rangeOf({ startIndex = 1, count = 100 }: ListRequest) {
  const start = Math.max(1, startIndex)
  return { startIndex: start, range: { offset: start - 1, limit: Math.min(scimLimits.page, Math.max(0, count)) } }
}

const filterOf = (text: string | undefined) => (text === undefined ? undefined : parseScimFilter(text))

const namesOf = ({ attributes, excludedAttributes }: Static<typeof Shown>) => ({
  attributes: attributes?.split(','),
  excludedAttributes: excludedAttributes?.split(','),
})

const requestOf = (query: Static<typeof ListQuery>): ListRequest => ({ ...query, ...namesOf(query) })

function created(
  { reply, query }: { reply: FastifyReply; query: Static<typeof Shown> },
  resource: object & { meta: { location: string } },
) {
  return reply
    .code(201)
    .header('location', resource.meta.location)
    .send(chosenOf(resource, namesOf(query)))
}

const discoveryRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { baseUrl }) => {
  const root = `${baseUrl}${prefix}`
  const noFilter = (request: FastifyRequest<{ Querystring: { filter?: string | undefined } }>) => {
    if (request.query.filter !== undefined) throw new AppError('forbidden', 'This list takes no filter.')
  }
  const querystring = Type.Object({ filter: Type.Optional(Type.String({ maxLength: 4000 })) })

  app.get('/ServiceProviderConfig', { config, schema: hidden('scim.serviceProvider') }, async () =>
    located(serviceProvider, 'ServiceProviderConfig', `${root}/ServiceProviderConfig`),
  )
  for (const [path, kind, all] of [
    ['/Schemas', 'Schema', schemas],
    ['/ResourceTypes', 'ResourceType', resourceTypes],
  ] as const) {
    const resources = all.map((one) => located(one, kind, `${root}${path}/${one.id}`))
    app.get(path, { config, schema: { ...hidden(`scim.list${kind}`), querystring } }, async (request) => {
      noFilter(request)
      return listOf(resources, { total: resources.length, startIndex: 1 })
    })
    app.get(
      `${path}/:id`,
      {
        config,
        schema: { ...hidden(`scim.read${kind}`), params: Type.Object({ id: Type.String({ maxLength: 200 }) }) },
      },
      async (request) => {
        const found = resources.find(({ id }) => id === request.params.id)
        if (found === undefined) throw new AppError('not_found', 'There is no such resource.')
        return found
      },
    )
  }
}

const userRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { scim: { users }, baseUrl }) => {
  const root = `${baseUrl}${prefix}`
  const list = async (requested: ListRequest) => {
    const { startIndex, range } = rangeOf(requested)
    const { users: found, total } = await users.list(filterOf(requested.filter), range)
    const resources = found.map((user) => chosenOf(toUser(user, root), requested))
    return listOf(resources, { total, startIndex })
  }

  app.get('/Users', { config, schema: { ...hidden('scim.users.list'), querystring: ListQuery } }, ({ query }) =>
    list(requestOf(query)),
  )

  app.post('/Users/.search', { config, schema: { ...hidden('scim.users.search'), body: Search } }, (request) =>
    list(request.body),
  )

  app.post(
    '/Users',
    { config: changed, schema: { ...hidden('scim.users.create'), body, querystring: Shown } },
    async ({ body: given, query }, reply) =>
      created({ reply, query }, toUser(await users.create(readScimUser(given)), root)),
  )

  app.get(
    '/Users/:id',
    { config, schema: { ...hidden('scim.users.read'), params, querystring: Shown } },
    async ({ params: { id }, query }) => chosenOf(toUser(await users.read(id), root), namesOf(query)),
  )

  app.put(
    '/Users/:id',
    { config: changed, schema: { ...hidden('scim.users.replace'), params, body, querystring: Shown } },
    async ({ params: { id }, body: given, query }) =>
      chosenOf(toUser(await users.replace(id, readScimUser(given)), root), namesOf(query)),
  )

  app.patch(
    '/Users/:id',
    { config: changed, schema: { ...hidden('scim.users.patch'), params, body, querystring: Shown } },
    async ({ params: { id }, body: given, query }) =>
      chosenOf(toUser(await users.patch(id, readPatch(given)), root), namesOf(query)),
  )

  app.delete(
    '/Users/:id',
    { config: changed, schema: { ...hidden('scim.users.delete'), params } },
    async (request, reply) => {
      await users.remove(request.params.id)
      return reply.code(204).send()
    },
  )
}

/** A list of thousands of members is read only for those who want it. */
const wantsMembers = (names: IncludedNames) => 'members' in chosenOf({ members: [] }, names)

const groupRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { scim: { groups }, baseUrl }) => {
  const root = `${baseUrl}${prefix}`
  const list = async (requested: ListRequest) => {
    const { startIndex, range } = rangeOf(requested)
    const withMembers = wantsMembers(requested)
    const { groups: found, total } = await groups.list(filterOf(requested.filter), range, { withMembers })
    const resources = found.map((group) => chosenOf(toGroup(group, root), requested))
    return listOf(resources, { total, startIndex })
  }

  app.get('/Groups', { config, schema: { ...hidden('scim.groups.list'), querystring: ListQuery } }, ({ query }) =>
    list(requestOf(query)),
  )

  app.post('/Groups/.search', { config, schema: { ...hidden('scim.groups.search'), body: Search } }, (request) =>
    list(request.body),
  )

  app.post(
    '/Groups',
    { config: changed, schema: { ...hidden('scim.groups.create'), body, querystring: Shown } },
    async ({ body: given, query }, reply) => created({ reply, query }, toGroup(await groups.create(given), root)),
  )

  app.get(
    '/Groups/:id',
    { config, schema: { ...hidden('scim.groups.read'), params, querystring: Shown } },
    async ({ params: { id }, query }) => {
      const names = namesOf(query)
      return chosenOf(toGroup(await groups.read(id, wantsMembers(names)), root), names)
    },
  )

  app.put(
    '/Groups/:id',
    { config: changed, schema: { ...hidden('scim.groups.replace'), params, body, querystring: Shown } },
    async ({ params: { id }, body: given, query }) =>
      chosenOf(toGroup(await groups.replace(id, given), root), namesOf(query)),
  )

  app.patch(
    '/Groups/:id',
    { config: changed, schema: { ...hidden('scim.groups.patch'), params, body, querystring: Shown } },
    async ({ params: { id }, body: given, query }) =>
      chosenOf(toGroup(await groups.patch(id, readPatch(given)), root), namesOf(query)),
  )

  app.delete(
    '/Groups/:id',
    { config: changed, schema: { ...hidden('scim.groups.delete'), params } },
    async (request, reply) => {
      await groups.remove(request.params.id)
      return reply.code(204).send()
    },
  )
}

/** Among users and groups: first all users that are found, then the groups. */
const searchRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { scim: { users, groups }, baseUrl }) => {
  const root = `${baseUrl}${prefix}`

  app.post('/.search', { config, schema: { ...hidden('scim.search'), body: Search } }, async ({ body: requested }) => {
    const filter = filterOf(requested.filter)
    const { startIndex, range } = rangeOf(requested)
    const ofUsers = await users.list(filter, range, { amongAll: true })
    const ofGroups = await groups.list(
      filter,
      { offset: Math.max(0, range.offset - ofUsers.total), limit: range.limit - ofUsers.users.length },
      { withMembers: wantsMembers(requested), amongAll: true },
    )
    const found = [
      ...ofUsers.users.map((user) => toUser(user, root)),
      ...ofGroups.groups.map((group) => toGroup(group, root)),
    ]
    const resources = found.map((resource) => chosenOf(resource, requested))
    return listOf(resources, { total: ofUsers.total + ofGroups.total, startIndex })
  })
}
