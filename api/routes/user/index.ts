import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { publicUser } from '../../../domain/accounts.ts'
import type { Accounts } from '../../../services/accounts/index.ts'
import { mayUseModel } from '../../../services/groups/allowances.ts'
import type { ListedModels } from '../../../services/models/list-models.ts'
import { sessionOf } from '../../plugins/authentication.ts'
import { accountBodyBytes } from '../../plugins/request-bodies.ts'
import {
  ChangePasswordRequest,
  Message,
  ModelList,
  ThreadInfo,
  Usage,
  User,
  UserUpdateRequest,
} from '../auth/schemas.ts'
import { refusals } from '../schemas.ts'

interface UserRoutesOptions {
  accounts: Accounts
  listModels: () => ListedModels
  allowances: Services['allowances']
}

/** What a user sees of their own account. */
export const userRoutes: FastifyPluginAsyncTypebox<UserRoutesOptions> = async (
  app,
  { accounts, listModels, allowances },
) => {
  const config = { auth: 'user' } as const
  const me = (request: FastifyRequest) => publicUser(sessionOf(request).user)

  for (const [url, operationId] of [
    ['/auth/user-info', 'accounts.userInfo'],
    ['/auth/me', 'accounts.me'],
    ['/user/', 'users.read'],
  ] as const) {
    app.get(
      url,
      { config, schema: { operationId, summary: 'The current user', tags: ['accounts'], response: { 200: User } } },
      me,
    )
  }

  app.get(
    '/auth/thread-info',
    {
      config,
      schema: {
        operationId: 'accounts.threadInfo',
        summary: 'How much of the thread quota is used',
        tags: ['accounts'],
        response: { 200: ThreadInfo },
      },
    },
    (request) => accounts.profile.threadInfo(sessionOf(request).user._id),
  )

  app.patch(
    '/user/',
    {
      config: { ...config, audit: 'successes' },
      bodyLimit: accountBodyBytes,
      schema: {
        operationId: 'users.update',
        summary: 'Change the names and the language of the current user',
        tags: ['users'],
        body: UserUpdateRequest,
        response: { 200: User },
      },
    },
    (request) => accounts.profile.change(sessionOf(request).user._id, request.body),
  )

  app.post(
    '/user/change-password',
    {
      config: { ...config, limits: ['password_user'], audit: 'and refusals' },
      bodyLimit: accountBodyBytes,
      schema: {
        operationId: 'users.changePassword',
        summary: 'Replace the password; existing tokens stay valid',
        tags: ['users'],
        body: ChangePasswordRequest,
        response: { 200: Message, ...refusals(409) },
      },
    },
    async (request) => {
      await accounts.profile.changePassword(sessionOf(request).user, request.body)
      return { message: 'The password is changed.' }
    },
  )

  app.get(
    '/user/usage',
    {
      config,
      schema: {
        operationId: 'users.usage',
        summary: 'The resources and tokens that the current user has used',
        tags: ['users'],
        querystring: Type.Object({
          days: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 366, description: 'Only the runs of so many days, today included.' }),
          ),
        }),
        response: { 200: Usage },
      },
    },
    (request) => accounts.usageOf(sessionOf(request).user._id, request.query.days),
  )

  app.get(
    '/user/models',
    {
      config,
      schema: {
        operationId: 'users.models',
        summary: 'Models that an assistant can choose',
        tags: ['users'],
        response: { 200: ModelList },
      },
    },
    async (request) => {
      const allowed = await allowances.of(sessionOf(request).user._id)
      const { models, ...rest } = listModels()
      return { ...rest, models: models.filter(({ id }) => mayUseModel(allowed, id)) }
    },
  )
}
