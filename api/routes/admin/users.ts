import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { invalidInput } from '../../../domain/errors.ts'
import { NewestPage } from '../paging.ts'
import { PathId, refusals } from '../schemas.ts'
import { AdminQuery, config, tags } from './declare.ts'
import {
  AdminUserDetails,
  StorageMaxRequest,
  SuspendUserRequest,
  ThreadMaxRequest,
  toAccount,
  ListedUsers,
  toListedUser,
} from './user-schemas.ts'

const params = Type.Object({ user_id: PathId })
const querystring = Type.Object(AdminQuery)
const response = { 200: AdminUserDetails, ...refusals(401, 404, 503) }

/** `/admin/users`: all users, and one of them, seen and changed by an administrator. */
export const adminUserRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'administration'>> = async (
  app,
  { administration: { accounts, suspension } },
) => {
  app.get(
    '/admin/users',
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'admin.findUser',
        summary: 'One user, by the exact e-mail address or the id, with quota, usage and newest runs',
        tags,
        querystring: Type.Object({
          ...AdminQuery,
          email: Type.Optional(Type.String({ minLength: 3, maxLength: 320 })),
          user_id: Type.Optional(PathId),
        }),
        response,
      },
    },
    async ({ query: { email, user_id: userId } }) => {
      if (email !== undefined && userId === undefined) return toAccount(await accounts.byEmail(email))
      if (userId !== undefined && email === undefined) return toAccount(await accounts.byId(userId))
      throw invalidInput(['query', 'email'], 'give either email or user_id')
    },
  )

  app.post(
    '/admin/users/:user_id/suspend',
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'admin.suspendUser',
        summary: 'Refuse every token of a user, and cancel the runs under way',
        tags,
        params,
        querystring,
        body: SuspendUserRequest,
        response,
      },
    },
    async ({ params: { user_id: userId }, body }) => {
      await suspension.suspend(userId, body.reason)
      return toAccount(await accounts.byId(userId))
    },
  )

  app.post(
    '/admin/users/:user_id/restore',
    {
      config: { ...config, audit: 'successes' },
      schema: { operationId: 'admin.restoreUser', summary: 'End a suspension', tags, params, querystring, response },
    },
    async ({ params: { user_id: userId } }) => {
      await suspension.restore(userId)
      return toAccount(await accounts.byId(userId))
    },
  )

  app.put(
    '/admin/users/:user_id/thread-max',
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'admin.setThreadMax',
        summary: 'Set how many threads a user may have without plans',
        tags,
        params,
        querystring,
        body: ThreadMaxRequest,
        response,
      },
    },
    async ({ params: { user_id: userId }, body }) => {
      await accounts.setThreadMax(userId, body.thread_max)
      return toAccount(await accounts.byId(userId))
    },
  )

  app.put(
    '/admin/users/:user_id/storage-max',
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'admin.setStorageMax',
        summary: 'Set what the files of a user may take together',
        tags,
        params,
        querystring,
        body: StorageMaxRequest,
        response,
      },
    },
    async ({ params: { user_id: userId }, body }) => {
      await accounts.setStorageMax(userId, body.storage_max_mb)
      return toAccount(await accounts.byId(userId))
    },
  )

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
