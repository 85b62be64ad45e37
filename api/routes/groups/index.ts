import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { groupLimits, groupSources } from '../../../domain/records/group.ts'
import { sessionOf } from '../../plugins/authentication.ts'
import { NewestPage } from '../paging.ts'
import { refusals } from '../schemas.ts'

export const GroupSource = Type.Enum([...groupSources], {
  title: 'GroupSource',
  about: 'Who says who is in a group.',
  description: 'Who says who is in it: an operator, an identity provider at each login, or provisioning (SCIM).',
})

const Group = Type.Object(
  { group_id: Type.String(), name: Type.String(), source: GroupSource },
  {
    title: 'Group',
    about: 'Several users, to whom a project can give a role.',
    description: 'Several users, to whom a project can give a role.',
  },
)

/** `/groups`: the groups that a user may know, to give them a role in a project. */
export const groupRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'groups'>> = async (app, { groups }) => {
  app.get(
    '/groups',
    {
      config: { auth: 'user' },
      schema: {
        operationId: 'groups.list',
        summary: 'Groups that you are in, and those that operators list for everybody, by name',
        tags: ['projects'],
        querystring: Type.Object({
          search: Type.Optional(Type.String({ maxLength: groupLimits.nameLength, description: 'A part of the name.' })),
          ...NewestPage.properties,
        }),
        response: {
          200: Type.Object(
            { groups: Type.Array(Group), total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer() },
            { title: 'GroupList', about: 'A page of groups.' },
          ),
          ...refusals(401),
        },
      },
    },
    async (request) => {
      const { search, limit, offset } = request.query
      const { groups: found, total } = await groups.listFor(sessionOf(request).user, search, { limit, offset })
      return {
        groups: found.map(({ _id, name, source }) => ({ group_id: _id, name, source })),
        total,
        limit,
        offset,
      }
    },
  )
}
