import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { AppError } from '../../../domain/errors.ts'
import { nullable } from '../../../domain/nullable.ts'
import type { Accounts } from '../../../services/accounts/index.ts'
import { auditToken } from '../../plugins/audit.ts'
import { callerOf, sessionOf } from '../../plugins/authentication.ts'
import { accountBodyBytes } from '../../plugins/request-bodies.ts'
import { PathId, Timestamp, refusals } from '../schemas.ts'
import { Message } from './schemas.ts'

const tags = ['accounts']
const code = Type.String({ minLength: 1, maxLength: 100, description: 'The code that the program shows.' })

const LoginCodeRequest = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 200, description: 'What the person is shown.' }) },
  { title: 'LoginCodeRequest', about: 'Which program asks to log in.' },
)
const LoginCode = Type.Object(
  {
    device_code: Type.String({ description: "The program's secret, with which it asks for its token." }),
    user_code: Type.String({ description: 'What the person types, or compares.' }),
    verification_uri: Type.String(),
    verification_uri_complete: Type.String({ description: 'The same page, with the code filled in.' }),
    expires_in: Type.Integer({ description: 'Seconds.' }),
    interval: Type.Integer({ description: 'Seconds between two questions for the token.' }),
  },
  { title: 'LoginCode', about: 'The codes of a login that a person confirms in the console, after RFC 8628.' },
)
const LoginCodeState = Type.Object(
  {
    status: Type.Enum(['waiting', 'allowed', 'refused', 'expired'], {
      title: 'LoginCodeStatus',
      about: 'How the login stands.',
    }),
    jwt_token: nullable(Type.String({ description: 'Once, when the login was allowed.' })),
  },
  { title: 'LoginCodeState', about: 'Whether the login was allowed.' },
)
const ProgramLogin = Type.Object(
  { login_id: Type.String(), name: Type.String(), created_at: Timestamp, last_used_at: nullable(Timestamp) },
  { title: 'ProgramLogin', about: 'A program that is logged in.' },
)

type Options = { accounts: Pick<Accounts, 'programLogins'> }

/** Logins of programs: the code that a program shows, the person who confirms it, and the logins that there are. */
export const programLoginRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  await app.register(codeRoutes, options)
  await app.register(decisionRoutes, options)
  await app.register(loginRoutes, options)
}

const codeRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { accounts: { programLogins } }) => {
  app.post(
    '/auth/login-codes',
    {
      config: { auth: 'none', limits: ['login_codes_client'] },
      schema: {
        operationId: 'accounts.loginCodes.create',
        summary: 'Begin the login of a program: a code that a person confirms in the console',
        tags,
        body: LoginCodeRequest,
        response: { 200: LoginCode, ...refusals() },
      },
    },
    async ({ body }) => {
      const begun = await programLogins.begin(body.name)
      return {
        device_code: begun.deviceCode,
        user_code: begun.code,
        verification_uri: begun.address,
        verification_uri_complete: begun.addressWithCode,
        expires_in: begun.expiresInSeconds,
        interval: begun.intervalSeconds,
      }
    },
  )

  app.post(
    '/auth/login-codes/redeem',
    {
      config: { auth: 'none', limits: ['login_polls_client'] },
      schema: {
        operationId: 'accounts.loginCodes.redeem',
        summary: 'Ask whether the login was allowed; if it was, the answer has its token, once',
        tags,
        body: Type.Object(
          { device_code: Type.String({ maxLength: 200 }) },
          { title: 'LoginCodeRedemption', about: 'The secret of the program.' },
        ),
        response: { 200: LoginCodeState, ...refusals() },
      },
    },
    async (request) => {
      const { status, token } = await programLogins.redeem(request.body.device_code)
      if (token !== undefined) auditToken(request, token)
      return { status, jwt_token: token ?? null }
    },
  )
}

const decisionRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { accounts: { programLogins } }) => {
  app.post(
    '/user/login-codes/find',
    {
      config: { auth: 'user', limits: ['login_codes_user'] },
      bodyLimit: accountBodyBytes,
      schema: {
        operationId: 'users.loginCodes.find',
        summary: 'Which program asks to log in under a code',
        tags: ['users'],
        body: Type.Object({ code }, { title: 'LoginCodeQuestion', about: 'A code that a program shows.' }),
        response: {
          200: Type.Object(
            { name: Type.String(), created_at: Timestamp },
            { title: 'LoginCodeAsker', about: 'The program that asks to log in.' },
          ),
          ...refusals(401, 403, 404),
        },
      },
    },
    async ({ body }) => {
      const { name, created_at } = await programLogins.find(body.code)
      return { name, created_at: created_at.toISOString() }
    },
  )

  app.post(
    '/user/login-codes/decide',
    {
      config: { auth: 'project', limits: ['login_codes_user'], audit: 'successes' },
      bodyLimit: accountBodyBytes,
      schema: {
        operationId: 'users.loginCodes.decide',
        summary: 'Allow or refuse the login of a program',
        tags: ['users'],
        body: Type.Object(
          { code, allow: Type.Boolean() },
          { title: 'LoginCodeDecision', about: 'Whether the program that shows the code may log in.' },
        ),
        response: { 200: Message, ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      const { code: given, allow } = request.body
      const { loginId, expiresAt } = sessionOf(request)
      // A login that was ended would live on in those that it has allowed.
      if (allow && loginId !== undefined)
        throw new AppError('forbidden', 'A program cannot allow another one to log in. Allow it in the console.')
      await programLogins.decide(callerOf(request), given, allow ? { allowedUntil: expiresAt } : 'refused')
      return { message: allow ? 'The program is logged in.' : 'The login was refused.' }
    },
  )
}

const loginRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { accounts: { programLogins } }) => {
  app.get(
    '/user/logins',
    {
      config: { auth: 'user' },
      schema: {
        operationId: 'users.logins.list',
        summary: 'The programs that are logged in, the newest hundred first',
        tags: ['users'],
        response: { 200: Type.Array(ProgramLogin), ...refusals(401, 403) },
      },
    },
    async (request) => {
      const logins = await programLogins.list(sessionOf(request).user._id)
      return logins.map(({ _id, name, created_at, last_used_at }) => ({
        login_id: _id,
        name,
        created_at: created_at.toISOString(),
        last_used_at: last_used_at?.toISOString() ?? null,
      }))
    },
  )

  app.delete(
    '/user/logins/:login_id',
    {
      config: { auth: 'user', audit: 'successes' },
      schema: {
        operationId: 'users.logins.end',
        summary: 'End the login of a program: its token is refused at once; `current` is that of this token',
        tags: ['users'],
        params: Type.Object({ login_id: PathId }),
        response: { 200: Message, ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      const { user, loginId = 'current' } = sessionOf(request)
      const { login_id: given } = request.params
      await programLogins.end(user._id, given === 'current' ? loginId : given)
      return { message: 'The login is ended.' }
    },
  )
}
