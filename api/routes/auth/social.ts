import { createHash } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { AppError } from '../../../domain/errors.ts'
import { preferredLanguage } from '../../../domain/languages.ts'
import { shortFormId } from '../../../domain/login-providers.ts'
import type { Provider } from '../../../domain/records/user.ts'
import type { Accounts } from '../../../services/accounts/index.ts'
import { attemptLifetimeSeconds } from '../../../services/accounts/login-attempts.ts'
import { auditToken } from '../../plugins/audit.ts'
import { sendHtmlPage } from '../html-page.ts'
import type { PageName } from '../page-texts.ts'
import { ErrorDetail, PathId, refusals } from '../schemas.ts'

/**
 * Printable ASCII, as RFC 6749 (appendix A) says. Providers choose how long their codes are. However they are encoded,
 * all three fit into the request's head, which has at most 16 KB.
 */
const fromProvider = (maxLength: number) => Type.Optional(Type.String({ maxLength, pattern: '^[ -~]*$' }))
const CallbackQuery = Type.Object({ code: fromProvider(4096), state: fromProvider(256), error: fromProvider(256) })

const page = { 'text/html': { schema: Type.String() } }
const callbackRefusal = {
  description: 'A page for people, or an error.',
  content: { ...page, 'application/json': { schema: ErrorDetail } },
}

/** Says how to log in to the account that has the address of the identity provider. */
const pageOfProvider: Record<Provider, PageName> = {
  email: 'accountWithPassword',
  social: 'accountOfProvider',
  userpool: 'accountOfUserPool',
}

/** `/auth/social/*`: redirects to the identity provider and its callback. */
export const socialRoutes: FastifyPluginAsyncTypebox<{ accounts: Accounts; baseUrl: string }> = async (
  app,
  { accounts: { social, loginAttempts }, baseUrl },
) => {
  const config = { auth: 'none', limits: ['accounts_client'] } as const
  const cookies = attemptCookies(baseUrl)

  app.get(
    '/auth/social/login',
    {
      config,
      schema: {
        operationId: 'accounts.socialLogin',
        summary: 'Send the browser to an identity provider',
        tags: ['accounts'],
        querystring: Type.Object({
          provider: Type.Optional(
            Type.String({ maxLength: 32, description: 'Its id; without it, the first of the settings.' }),
          ),
        }),
        response: { 302: Type.Null({ description: 'Redirect to the consent screen' }), ...refusals(404) },
      },
    },
    async (request, reply) => {
      const { redirectTo, attempt } = await social.begin(request.query.provider)
      const cookie = cookies.set(attempt.state, loginAttempts.seal(attempt), attemptLifetimeSeconds)
      return reply.header('set-cookie', cookie).redirect(redirectTo)
    },
  )

  const callback = {
    tags: ['accounts'],
    querystring: CallbackQuery,
    response: {
      302: Type.Null({ description: 'Redirect to the front end, with token, assistant and thread' }),
      400: callbackRefusal,
      409: callbackRefusal,
      ...refusals(401, 403),
    },
  }
  const callbackConfig = { ...config, audit: 'successes' } as const

  app.get(
    '/auth/social/callback',
    {
      config: callbackConfig,
      schema: {
        ...callback,
        operationId: 'accounts.socialCallback',
        summary: 'Callback of the identity provider',
        description: 'Answers with an HTML page and no token if the account uses another kind of login.',
      },
    },
    (request, reply) => finish(request, reply, shortFormId),
  )

  app.get(
    '/auth/social/callback/:provider_id',
    {
      config: callbackConfig,
      schema: {
        ...callback,
        params: Type.Object({ provider_id: PathId }),
        operationId: 'accounts.socialCallbackOf',
        summary: 'Callback of one of several identity providers',
        description: 'Answers with an HTML page and no token if the account uses another kind of login.',
      },
    },
    (request, reply) => finish(request, reply, request.params.provider_id),
  )

  async function finish(
    request: FastifyRequest<{ Querystring: Static<typeof CallbackQuery> }>,
    reply: FastifyReply,
    providerId: string,
  ) {
    const { state } = request.query
    if (state === undefined) throw notBegunHere()
    const sealed = cookies.read(request, state)
    reply.header('set-cookie', cookies.clear(state))
    const attempt = sealed === undefined ? undefined : loginAttempts.open(sealed)
    if (attempt?.state !== state || attempt.provider !== providerId) throw notBegunHere()
    const language = preferredLanguage(request.headers['accept-language'])
    const end = await social.finish(request.url.slice(request.url.indexOf('?') + 1), attempt, language)
    switch (end.kind) {
      case 'entered':
        auditToken(request, end.token)
        reply.header('set-cookie', cookies.given(end.token, end.redirectTo))
        return reply.redirect(end.redirectTo)
      case 'other_provider':
        return sendHtmlPage(request, reply.code(409), pageOfProvider[end.provider])
      case 'other_subject':
        return sendHtmlPage(request, reply.code(409), 'otherIdentity')
      case 'other_domain':
        return sendHtmlPage(request, reply.code(409), 'otherDomain')
      case 'no_verified_email':
        request.log.warn({ issuer: end.issuer, problem: end.problem }, refusedAddress[end.problem])
        return sendHtmlPage(request, reply.code(400), 'noVerifiedEmail')
    }
  }
}

/** For the operator's log: the person sees only that the address is not verified. */
const refusedAddress = {
  no_address: 'social login refused: the provider sent no e-mail address',
  not_verified: 'social login refused: the provider says that the e-mail address is not verified',
  not_said:
    'social login refused: the provider does not say whether the e-mail address is verified (email_verified); if it verifies addresses, name its issuer in OAUTH_VERIFIED_ISSUERS, or set trust_addresses in OAUTH_PROVIDERS',
}

function notBegunHere(): AppError {
  return new AppError('bad_request', 'The callback does not belong to a login that was started in this browser.')
}

/**
 * The cookie of one login (RFC 6265). Its name contains the `state`, so that logins in two tabs do not overwrite
 * each other; `Lax` lets the browser send it when the provider redirects back.
 */
function attemptCookies(baseUrl: string) {
  const { protocol, pathname } = new URL(baseUrl)
  const common = ['SameSite=Lax', ...(protocol === 'https:' ? ['Secure'] : [])]
  const attributes = [`Path=${pathname.replace(/\/$/, '')}/auth/social`, 'HttpOnly', ...common].join('; ')

  return {
    set: (state: string, sealed: string, maxAgeSeconds: number) =>
      `${nameOf(state)}=${sealed}; Max-Age=${maxAgeSeconds}; ${attributes}`,
    clear: (state: string) => `${nameOf(state)}=; Max-Age=0; ${attributes}`,
    /**
     * A login redirects to a page, which reads this cookie: it shows that the service gave the token to this browser.
     * Another site can lead to that page too, but cannot set the cookie. It holds the last 22 characters of the token,
     * which identify the token and cannot be used in its place.
     */
    given(token: string, redirectTo: string): string {
      return [
        `social_login_end=${token.slice(-22)}`,
        'Max-Age=60',
        `Path=${new URL(redirectTo).pathname}`,
        ...common,
      ].join('; ')
    },
    read(request: FastifyRequest, state: string): string | undefined {
      const prefix = `${nameOf(state)}=`
      return (request.headers.cookie ?? '')
        .split(/; */)
        .find((cookie) => cookie.startsWith(prefix))
        ?.slice(prefix.length)
    },
  }
}

function nameOf(state: string): string {
  return `social_login_${createHash('sha256').update(state).digest('hex').slice(0, 16)}`
}
