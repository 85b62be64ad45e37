import { createHash } from 'node:crypto'
import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { normalizeEmail } from '../../domain/email-address.ts'
import { AppError } from '../../domain/errors.ts'
import type { Rate, RateLimitName, RateTable } from '../../domain/rate-limits.ts'
import { tokensOf } from '../routes/public/caller.ts'
import { clientOf } from './client-address.ts'

/** The key under which a request is counted; undefined if it is not counted. */
type KeyOf = (request: FastifyRequest) => string | undefined

/** Counted before a token is checked or a body read. */
const early = (keyOf: KeyOf) => ({ hook: 'onRequest', keyOf }) as const
/** Counted after the caller is known and the body is validated. */
const late = (keyOf: KeyOf) => ({ hook: 'preHandler', keyOf }) as const

/** Not counted by request: `services/public/stored-kilobytes.ts`. */
const elsewhere = { hook: undefined, keyOf: () => undefined } as const

/** How each limit counts. No route names `admin_guesses`: the authentication takes it. */
const limits: Record<RateLimitName, ReturnType<typeof early | typeof late> | typeof elsewhere> = {
  accounts_client: early(clientOf),
  signup_client: early(clientOf),
  login_client: early(clientOf),
  login_address: late(addressOf),
  login_codes_client: early(clientOf),
  login_polls_client: early(clientOf),
  login_codes_user: late(userOf),
  forgot_client: early(clientOf),
  resend_client: early(clientOf),
  reset_client: early(clientOf),
  verify_client: early(clientOf),
  verify_address: late(addressOf),
  mails_address: late(addressOf),
  invitations_user: late(userOf),
  password_user: late(userOf),
  admin_client: early(clientOf),
  admin_guesses: early(clientOf),
  anonymous_client: early(clientOf),
  pages_client: early(clientOf),
  probes_client: early(clientOf),
  public_client: early(clientOf),
  public_runs_client: late(clientOf),
  public_runs_token: late(publicTokenOf),
  public_runs_assistant: late((request) => request.publicAssistant?._id),
  public_kilobytes_assistant: elsewhere,
  imports_user: late(userOf),
  runs_user: late(userOf),
  shared_client: early(clientOf),
  searches_user: late(userOf),
  checkout_user: late(userOf),
  checkout_reads_user: late(userOf),
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The limits that a request of this route counts against; without it, those of its kind apply. */
    limits?: readonly RateLimitName[]
    /** Which requests count against the limits of its `preHandler`; default: all. */
    isLimited?: (request: FastifyRequest) => boolean
  }
}

interface RateCounter {
  hit(key: string, windowMs: number): Promise<{ current: number; ttl: number }>
  read(key: string): Promise<{ current: number; ttl: number }>
}

export interface RateLimitSettings {
  rateLimitsOn: boolean
  rateLimits: RateTable
}

/**
 * Increments the count of a key, or with `increment: false` only reads it; throws `too_many_requests` above the
 * limit.
 */
export type Limiter = (request: FastifyRequest, options?: { increment: boolean }) => Promise<void>

/**
 * Rate limits in fixed windows, counted for all API processes together. Returns the limiter of wrong admin tokens,
 * which is on even if the others are off.
 */
export async function installRateLimits(
  app: FastifyInstance,
  { rateLimitsOn, rateLimits }: RateLimitSettings,
  counter: RateCounter,
): Promise<Limiter> {
  await app.register(rateLimit, { global: false, store: storeOf(counter) })
  if (rateLimitsOn) {
    for (const hook of ['onRequest', 'preHandler'] as const) {
      const limiters = [...rateLimits]
        .filter(([name]) => limits[name].hook === hook)
        .map(([name, rates]) => ({ name, take: createLimiter(app, name, rates, limits[name].keyOf) }))
      app.addHook(hook, async (request: FastifyRequest) => {
        if (hook === 'preHandler' && request.routeOptions.config.isLimited?.(request) === false) return
        const named = limitsOf(request)
        await Promise.all(limiters.filter(({ name }) => named.includes(name)).map(({ take }) => take(request)))
      })
    }
  }
  return createLimiter(app, 'admin_guesses', rateLimits.get('admin_guesses'), clientOf)
}

/** A route that names no limit has one by client if it answers without a token; so have paths that do not exist. */
function limitsOf({ method, headers, routeOptions }: FastifyRequest): readonly RateLimitName[] {
  const { limits: named, auth = 'none', isProbe, isStaticPage } = routeOptions.config
  if (named !== undefined) return named
  if (isProbe) return ['probes_client']
  if (isStaticPage || method === 'OPTIONS') return ['pages_client']
  const isAnonymous = auth === 'none' || (auth === 'optional-user' && headers.authorization === undefined)
  return isAnonymous ? ['anonymous_client'] : []
}

/**
 * Windows are counted one after the other: a request that the shorter one refuses does not count in the longer one.
 */
function createLimiter(app: FastifyInstance, name: string, rates: readonly Rate[] = [], keyOf: KeyOf): Limiter {
  const checks = rates.map(({ max, windowMs }) =>
    app.createRateLimit({
      max,
      timeWindow: windowMs,
      // Hashed, so that Redis contains no addresses and tokens.
      keyGenerator: (request) => `${name}:${windowMs}:${digest(keyOf(request) ?? '')}`,
    }),
  )
  return async (request, options) => {
    if (keyOf(request) === undefined) return
    for (const check of checks) {
      const result = await check(request, options)
      if (!result.isAllowed && result.isExceeded) throw tooMany(result.ttlInSeconds)
    }
  }
}

function tooMany(seconds: number): AppError {
  const retryAfterSeconds = Math.max(1, seconds)
  return new AppError('too_many_requests', `Too many requests; try again in ${retryAfterSeconds} seconds.`, {
    retryAfterSeconds,
  })
}

/** The counter as a store for `@fastify/rate-limit`. */
function storeOf(counter: RateCounter) {
  type Done = (error: Error | null, result?: { current: number; ttl: number }) => void
  const answer = (counting: Promise<{ current: number; ttl: number }>, done: Done) => {
    counting.then(
      (result) => done(null, result),
      (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
    )
  }
  return class {
    incr(key: string, done: Done, windowMs: number) {
      answer(counter.hit(key, windowMs), done)
    }
    read(key: string, done: Done) {
      answer(counter.read(key), done)
    }
    child() {
      return this
    }
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}

function userOf(request: FastifyRequest): string | undefined {
  return request.session?.user._id
}

/** The public token of the request. */
function publicTokenOf(request: FastifyRequest): string | undefined {
  return tokensOf(request)[0] ?? memberOf(request.body, 'token')
}

/** The e-mail address in a body, whose schema has been checked. */
function addressOf({ body }: FastifyRequest): string | undefined {
  const email = memberOf(body, 'email')
  return email === undefined ? undefined : normalizeEmail(email)
}

function memberOf(body: unknown, name: 'email' | 'token'): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined
  const value: unknown = Reflect.get(body, name)
  return typeof value === 'string' ? value : undefined
}
