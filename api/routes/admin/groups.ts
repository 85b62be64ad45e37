import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { toolTypes } from '../../../domain/acting.ts'
import { type GroupRecord, groupLimits } from '../../../domain/records/group.ts'
import { GroupSource } from '../groups/index.ts'
import { NewestPage } from '../paging.ts'
import { PathId, Timestamp, nullable, refusals } from '../schemas.ts'
import { AdminQuery, config, tags } from './declare.ts'

const params = Type.Object({ group_id: PathId })
const querystring = Type.Object(AdminQuery)
const changed = { ...config, audit: 'successes' } as const

const list = (items: ReturnType<typeof Type.String>) => Type.Array(items, { maxItems: groupLimits.allowed })
const allowed = {
  models: nullable(list(Type.String({ minLength: 1, maxLength: 200 }))),
  tool_types: nullable(Type.Array(Type.Enum([...toolTypes]), { maxItems: toolTypes.length })),
  hosts: nullable(list(Type.String({ minLength: 1, maxLength: 253 }))),
}
const Allowed = Type.Object(allowed, {
  title: 'GroupAllowed',
  about: 'What the members of a group may use.',
  description:
    'What members may use beside what the group `everyone` may. Null of `everyone`: all is allowed, whatever other groups say.',
})
const AllowedChange = Type.Object(
  {
    models: Type.Optional(allowed.models),
    tool_types: Type.Optional(allowed.tool_types),
    hosts: Type.Optional(allowed.hosts),
  },
  { title: 'GroupAllowedChange', about: 'What to change in what a group may use; null lifts a list.' },
)

const AdminGroup = Type.Object(
  {
    group_id: Type.String(),
    name: Type.String(),
    source: GroupSource,
    realm: Type.String({ description: 'Of an identity provider, its issuer and the claim; else empty.' }),
    external_id: nullable(Type.String()),
    listed: Type.Boolean({ description: 'Whether all users see it, and can give it roles in their projects.' }),
    allowed: Allowed,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'AdminGroup', about: 'A group as an operator sees it.' },
)
const page = { total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer() }

const name = Type.String({ minLength: 1, maxLength: groupLimits.nameLength })
const change = { listed: Type.Optional(Type.Boolean()), allowed: Type.Optional(AllowedChange) }

type Deps = Pick<Services, 'groups'>

/** `/admin/groups`: who belongs together, and what he may use. */
export const adminGroupRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  await app.register(memberRoutes, deps)
  await app.register(changeRoutes, deps)
  const { groups } = deps

  app.get(
    '/admin/groups',
    {
      config,
      schema: {
        operationId: 'admin.groups.list',
        summary: 'All groups by name; with `search` those whose name contains the text',
        tags,
        querystring: Type.Object({
          ...AdminQuery,
          search: Type.Optional(Type.String({ maxLength: groupLimits.nameLength, description: 'A part of the name.' })),
          ...NewestPage.properties,
        }),
        response: {
          200: Type.Object(
            { groups: Type.Array(AdminGroup), ...page },
            { title: 'AdminGroupList', about: 'A page of groups.' },
          ),
          ...refusals(401, 503),
        },
      },
    },
    async ({ query: { search, limit, offset } }) => {
      const { groups: found, total } = await groups.list(search, { limit, offset })
      return { groups: found.map(shown), total, limit, offset }
    },
  )

  app.get(
    '/admin/groups/:group_id',
    {
      config,
      schema: {
        operationId: 'admin.groups.read',
        summary: 'One group; `everyone` says what all users may use',
        tags,
        params,
        querystring,
        response: { 200: AdminGroup, ...refusals(401, 404, 503) },
      },
    },
    async ({ params: { group_id: groupId } }) => shown(await groups.read(groupId)),
  )
}

const changeRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { groups }) => {
  app.post(
    '/admin/groups',
    {
      config: changed,
      schema: {
        operationId: 'admin.groups.create',
        summary: 'Make a group whose members operators name',
        tags,
        querystring,
        body: Type.Object({ name, ...change }, { title: 'GroupCreateRequest', about: 'A new group.' }),
        response: { 200: AdminGroup, ...refusals(400, 401, 409, 503) },
      },
    },
    async ({ body }) => shown(await groups.create(body)),
  )

  app.patch(
    '/admin/groups/:group_id',
    {
      config: changed,
      schema: {
        operationId: 'admin.groups.update',
        summary: 'Change the name of a group, who sees it, or what its members may use',
        tags,
        params,
        querystring,
        body: Type.Object(
          { name: Type.Optional(name), ...change },
          { title: 'GroupUpdateRequest', about: 'The members to change.' },
        ),
        response: { 200: AdminGroup, ...refusals(400, 401, 404, 409, 503) },
      },
    },
    async ({ params: { group_id: groupId }, body }) => shown(await groups.update(groupId, body)),
  )

  app.delete(
    '/admin/groups/:group_id',
    {
      config: changed,
      schema: {
        operationId: 'admin.groups.delete',
        summary: 'Delete a group, with the roles that projects give to it',
        tags,
        params,
        querystring,
        response: { 200: Type.Object({ deleted: Type.Boolean() }), ...refusals(401, 404, 409, 503) },
      },
    },
    async ({ params: { group_id: groupId } }) => {
      await groups.remove(groupId)
      return { deleted: true }
    },
  )
}

const GroupMember = Type.Object(
  { user_id: Type.String(), email: Type.String({ description: 'Empty if the account has none.' }) },
  { title: 'GroupMember', about: 'Somebody who is in a group.' },
)

const memberRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { groups }) => {
  app.get(
    '/admin/groups/:group_id/members',
    {
      config,
      schema: {
        operationId: 'admin.groups.members.list',
        summary: 'Who is in a group',
        tags,
        params,
        querystring: Type.Object({ ...AdminQuery, ...NewestPage.properties }),
        response: {
          200: Type.Object(
            { members: Type.Array(GroupMember), ...page },
            { title: 'GroupMemberList', about: 'A page of the members of a group.' },
          ),
          ...refusals(401, 404, 503),
        },
      },
    },
    async ({ params: { group_id: groupId }, query: { limit, offset } }) => {
      const { members, total } = await groups.members(groupId, { limit, offset })
      return { members: members.map(({ _id, email = '' }) => ({ user_id: _id, email })), total, limit, offset }
    },
  )

  app.post(
    '/admin/groups/:group_id/members',
    {
      config: changed,
      schema: {
        operationId: 'admin.groups.members.add',
        summary: 'Put a user into a group that operators made',
        tags,
        params,
        querystring,
        body: Type.Object(
          { user_id: Type.String({ minLength: 1, maxLength: 128 }) },
          { title: 'GroupMemberAddRequest', about: 'Who to put into the group.' },
        ),
        response: { 200: Type.Object({ added: Type.Boolean() }), ...refusals(401, 404, 409, 503) },
      },
    },
    async ({ params: { group_id: groupId }, body }) => {
      await groups.addMember(groupId, body.user_id)
      return { added: true }
    },
  )

  app.delete(
    '/admin/groups/:group_id/members/:user_id',
    {
      config: changed,
      schema: {
        operationId: 'admin.groups.members.delete',
        summary: 'Take a user out of a group; what he used by it ends as if he had been removed from each project',
        tags,
        params: Type.Object({ group_id: PathId, user_id: PathId }),
        querystring,
        response: { 200: Type.Object({ deleted: Type.Boolean() }), ...refusals(401, 404, 409, 503) },
      },
    },
    async ({ params: { group_id: groupId, user_id: userId } }) => {
      await groups.removeMember(groupId, userId)
      return { deleted: true }
    },
  )
}

function shown({
  _id,
  name: called,
  source,
  realm,
  external_id: externalId,
  ...group
}: GroupRecord): Static<typeof AdminGroup> {
  const { models = null, tool_types: types = null, hosts = null } = group.allowed ?? {}
  return {
    group_id: _id,
    name: called,
    source,
    realm: source === 'provider' ? realm : '',
    external_id: externalId ?? null,
    listed: group.listed === true,
    allowed: { models, tool_types: types, hosts },
    created_at: group.created_at.toISOString(),
    updated_at: group.updated_at.toISOString(),
  }
}
