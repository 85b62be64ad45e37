import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { NewestPage } from '../paging.ts'
import { refusals } from '../schemas.ts'
import { AdminQuery, config, tags } from './declare.ts'
import { ListedUsers, toListedUser } from './user-schemas.ts'

/** `/admin/users/list`: all users, or those whose address contains a text. */
export const adminUserListRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'administration'>> = async (
  app,
  { administration: { accounts } },
) => {
  app.get(
    '/admin/users/list',
    {
      config,
      schema: {
        operationId: 'admin.listUsers',
        summary: 'Users, newest first; with `search` those whose e-mail address contains the text',
        tags,
        querystring: Type.Object({
          ...AdminQuery,
          search: Type.Optional(Type.String({ maxLength: 200, description: 'A part of an address, or an id.' })),
          ...NewestPage.properties,
        }),
        response: { 200: ListedUsers, ...refusals(401, 503) },
      },
    },
    async ({ query: { search, limit, offset } }) => {
      const { users, total } = await accounts.list(search, { limit, offset })
      return { users: users.map(toListedUser), total, limit, offset }
    },
  )
}
