import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { shortFormId } from '../../../domain/login-providers.ts'
import type { Accounts } from '../../../services/accounts/index.ts'
import { accountBodyBytes } from '../../plugins/request-bodies.ts'
import { PathId, refusals } from '../schemas.ts'

const LoginMethods = Type.Object(
  {
    password: Type.Boolean({ description: 'Whether there is a login with address and password.' }),
    providers: Type.Array(
      Type.Object(
        {
          provider_id: Type.String(),
          name: Type.String({ description: 'What its button says.' }),
          url: Type.String({ description: 'Where the browser goes.' }),
        },
        {
          title: 'LoginProvider',
          about: 'An identity provider through which people log in.',
          description: 'An identity provider through which people log in.',
        },
      ),
    ),
  },
  { title: 'LoginMethods', about: 'How people log in.' },
)

interface Deps {
  accounts: Pick<Accounts, 'methodsFor' | 'logOutByProvider'>
  baseUrl: string
}

/** How people log in, and that they have logged out at an identity provider. */
export const loginMethodRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { accounts, baseUrl }) => {
  app.get(
    '/auth/login-methods',
    {
      config: { auth: 'none', limits: ['accounts_client'] },
      schema: {
        operationId: 'accounts.loginMethods',
        summary: 'How people log in here; with an address, how those of its domain do',
        description: 'The answer depends on the domain alone, and tells nothing about accounts.',
        tags: ['accounts'],
        querystring: Type.Object({ email: Type.Optional(Type.String({ format: 'email', maxLength: 254 })) }),
        response: { 200: LoginMethods, ...refusals() },
      },
    },
    async ({ query }) => {
      const { password, providers } = accounts.methodsFor(query.email)
      return {
        password,
        providers: providers.map(({ id, name }) => ({
          provider_id: id,
          name,
          url: `${baseUrl}/auth/social/login?provider=${id}`,
        })),
      }
    },
  )

  await app.register(logoutRoutes, { accounts, baseUrl })
}

const logoutRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { accounts }) => {
  const form = 'application/x-www-form-urlencoded'
  app.addContentTypeParser(form, { parseAs: 'string', bodyLimit: accountBodyBytes }, (_request, body, done) => {
    done(null, Object.fromEntries(new URLSearchParams(String(body))))
  })
  const body = Type.Object(
    { logout_token: Type.String({ maxLength: 16_384 }) },
    {
      title: 'ProviderLogoutRequest',
      about: 'That an identity provider has logged a user out.',
      description: 'As a form (application/x-www-form-urlencoded) or as JSON.',
    },
  )
  const shared = {
    tags: ['accounts'],
    description:
      'OpenID Connect Back-Channel Logout 1.0. The tokens of the user that are older end; logins of programs stay.',
    body,
    response: { 200: Type.Object({ logged_out: Type.Boolean() }), ...refusals(400, 404, 500) },
  }
  const config = { auth: 'none', limits: ['accounts_client'] } as const

  app.post(
    '/auth/social/logout',
    {
      config,
      schema: {
        ...shared,
        operationId: 'accounts.socialLogout',
        summary: 'The identity provider has logged a user out',
      },
    },
    async (request) => {
      await accounts.logOutByProvider(shortFormId, request.body.logout_token)
      return { logged_out: true }
    },
  )

  app.post(
    '/auth/social/logout/:provider_id',
    {
      config,
      schema: {
        ...shared,
        params: Type.Object({ provider_id: PathId }),
        operationId: 'accounts.socialLogoutOf',
        summary: 'One of several identity providers has logged a user out',
      },
    },
    async (request) => {
      await accounts.logOutByProvider(request.params.provider_id, request.body.logout_token)
      return { logged_out: true }
    },
  )
}
