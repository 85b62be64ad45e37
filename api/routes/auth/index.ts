import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { publicUser } from '../../../domain/accounts.ts'
import { preferredLanguage } from '../../../domain/languages.ts'
import type { Accounts } from '../../../services/accounts/index.ts'
import { auditToken } from '../../plugins/audit.ts'
import { bearerOf } from '../../plugins/bearer-token.ts'
import { once } from '../../plugins/idempotency.ts'
import { refusals } from '../schemas.ts'
import {
  ExchangeResponse,
  ForgotPasswordRequest,
  LoginRequest,
  LoginResponse,
  Message,
  ResendVerificationRequest,
  ResetPasswordRequest,
  SignupRequest,
  SignupResponse,
  VerificationStatus,
  VerificationStatusParams,
  VerifyEmailRequest,
} from './schemas.ts'

/** `/auth/*` for callers without a token: from sign-up to the first login. */
export const authRoutes: FastifyPluginAsyncTypebox<{ accounts: Accounts }> = async (app, deps) => {
  await app.register(entryRoutes, deps)
  await app.register(mailRoutes, deps)
  await app.register(exchangeRoutes, deps)
}

const config = { auth: 'none' } as const
const tags = ['accounts']

const entryRoutes: FastifyPluginAsyncTypebox<{ accounts: Accounts }> = async (app, { accounts }) => {
  app.post(
    '/auth/signup',
    {
      config: {
        ...config,
        idempotent: { except: ['password'] },
        limits: ['signup_client', 'mails_address'],
        audit: 'successes',
      },
      schema: {
        operationId: 'accounts.signup',
        summary: 'Create an account; a verification code is sent by mail',
        tags,
        body: SignupRequest,
        response: { 200: SignupResponse, ...refusals(403) },
      },
    },
    async (request) => {
      const language = request.body.language ?? preferredLanguage(request.headers['accept-language'])
      const user = await once(request, {
        create: (id, confirm) => accounts.signup({ ...request.body, language }, id, confirm),
        find: (id) => accounts.resumeSignup(id),
      })
      return { ...publicUser(user), message: 'The account was created. A verification code will arrive by mail.' }
    },
  )

  app.post(
    '/auth/login',
    {
      config: { ...config, limits: ['login_client', 'login_address'], audit: 'and refusals' },
      schema: {
        operationId: 'accounts.login',
        summary: 'Exchange e-mail address and password for an access token of 30 days',
        tags,
        body: LoginRequest,
        response: { 200: LoginResponse, ...refusals(401, 403, 409) },
      },
    },
    async (request) => {
      const entered = await accounts.login.withPassword(request.body)
      auditToken(request, entered.jwt_token)
      return entered
    },
  )
}

/** What a mail asks for, and further mails. */
const mailRoutes: FastifyPluginAsyncTypebox<{ accounts: Accounts }> = async (app, { accounts }) => {
  app.post(
    '/auth/verify-email',
    {
      config: { ...config, limits: ['verify_client', 'verify_address'], audit: 'successes' },
      schema: {
        operationId: 'accounts.verifyEmail',
        summary: 'Verify the e-mail address with the code of the mail',
        tags,
        body: VerifyEmailRequest,
        response: { 200: Message },
      },
    },
    async ({ body }) => {
      await accounts.verification.verify(body.email, body.code)
      return { message: 'The e-mail address is verified.' }
    },
  )

  app.post(
    '/auth/resend-verification',
    {
      config: { ...config, limits: ['resend_client', 'mails_address'] },
      schema: {
        operationId: 'accounts.resendVerification',
        summary: 'Send a new verification code; it replaces the previous one',
        tags,
        body: ResendVerificationRequest,
        response: { 200: Message, ...refusals(404) },
      },
    },
    async ({ body }) => {
      await accounts.verification.resend(body.email)
      return { message: 'A new verification code will arrive by mail.' }
    },
  )

  app.post(
    '/auth/forgot-password',
    {
      config: { ...config, limits: ['forgot_client', 'mails_address'], audit: 'successes' },
      schema: {
        operationId: 'accounts.forgotPassword',
        summary: 'Send a link to choose a new password; it replaces the previous link',
        tags,
        body: ForgotPasswordRequest,
        response: { 200: Message, ...refusals(403, 404) },
      },
    },
    async ({ body }) => {
      await accounts.passwordReset.request(body.email)
      return { message: 'A link to choose a new password will arrive by mail.' }
    },
  )

  app.post(
    '/auth/reset-password',
    {
      config: { ...config, limits: ['reset_client'], audit: 'successes' },
      schema: {
        operationId: 'accounts.resetPassword',
        summary: 'Choose a new password with the token of the mail',
        tags,
        body: ResetPasswordRequest,
        response: { 200: Message },
      },
    },
    async ({ body }) => {
      await accounts.passwordReset.redeem(body)
      return { message: 'The password is changed.' }
    },
  )
}

const exchangeRoutes: FastifyPluginAsyncTypebox<{ accounts: Accounts }> = async (app, { accounts }) => {
  app.post(
    '/auth/exchange',
    {
      config: { ...config, limits: ['accounts_client'], audit: 'successes' },
      schema: {
        operationId: 'accounts.exchange',
        summary: "Exchange a user pool's ID token, as bearer token, for a service token of one hour",
        tags,
        response: { 200: ExchangeResponse, ...refusals(401, 403, 409) },
      },
    },
    async (request) => {
      const token = await accounts.exchange(bearerOf(request), preferredLanguage(request.headers['accept-language']))
      auditToken(request, token)
      return { token }
    },
  )

  app.get(
    '/auth/verification-status/:email',
    {
      config: { ...config, limits: ['accounts_client'] },
      schema: {
        operationId: 'accounts.verificationStatus',
        summary: 'Whether an address is verified, and the state of its code',
        tags,
        params: VerificationStatusParams,
        response: { 200: VerificationStatus },
      },
    },
    ({ params }) => accounts.verification.status(params.email),
  )
}
