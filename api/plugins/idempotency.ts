import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type, { type TSchema } from 'typebox'
import { addAll } from '../../domain/add-all.ts'
import { normalizeEmail } from '../../domain/email-address.ts'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { isJsonObject } from '../../domain/json.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import { type Attempt, leaseMs } from '../../services/idempotency-attempt.ts'
import type { Idempotency } from '../../services/idempotency.ts'
import type { FollowedRun, RunFeed } from '../../services/runs/index.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The route creates something, and accepts an `Idempotency-Key`. `except` names the members of the body that are
     * too secret for anything derived from them to be stored: they are not compared.
     */
    idempotent?: true | { except: readonly string[] }
  }
  interface FastifyRequest {
    idempotency: KeyedAttempt | null
  }
}

interface KeyedAttempt {
  id: string
  earlierIds: string[]
  isBegun: boolean
  /** Further records of which the answer contains parts: deleting one of them removes the answer. */
  subjects: string[]
  attempt: Attempt
  /** Whether the effect of the request is there; absent as long as no attempt has begun it. */
  isMade?: () => Promise<boolean>
  stopRenewing: () => void
}

const header = 'idempotency-key'

/**
 * `Idempotency-Key` on routes that create something: for a day, the same request with the same key gets the first
 * answer and takes effect once. Requests without the header cost nothing.
 */
export function installIdempotency(app: FastifyInstance, { acquire }: Pick<Idempotency, 'acquire'>): void {
  app.decorateRequest('idempotency', null)

  app.addHook('onRoute', (route) => {
    if (!route.config?.idempotent || route.schema === undefined) return
    const { headers } = route.schema
    const declared = isJsonObject(headers) && isJsonObject(headers['properties']) ? headers['properties'] : {}
    route.schema.headers = Type.Object({ ...(declared as Record<string, TSchema>), [header]: Type.Optional(Key) })
  })

  app.addHook('preHandler', async (request, reply) => {
    const key = request.headers[header]
    if (!request.routeOptions.config.idempotent || typeof key !== 'string') return
    const { caller, subjects } = keyOwnerOf(request)
    const requested = [request.method, request.url, JSON.stringify(comparedBody(request)) ?? '']
    const acquired = await acquire({ caller, key, request: requested, subjects })
    if ('answer' in acquired) {
      const { status, body, headers } = acquired.answer
      reply.header('idempotent-replayed', 'true').headers(headers).code(status)
      return reply.type('application/json; charset=utf-8').send(body)
    }
    const { attempt } = acquired
    // A run that has begun needs no lease, because a repeated request follows it.
    const renewal = acquired.isBegun
      ? undefined
      : setInterval(() => void attempt.renew().catch(() => false), leaseMs / 3).unref()
    request.idempotency = { ...acquired, subjects: [], stopRenewing: () => clearInterval(renewal) }
  })

  app.addHook('onSend', async (request, reply, payload) => {
    const keyed = request.idempotency
    // A run or ingestion that has begun goes on, however this request is answered.
    if (keyed === null || keyed.isBegun) return payload
    request.idempotency = null
    keyed.stopRenewing()
    try {
      await storeOutcome(keyed, reply.statusCode, payload, (name) => reply.getHeader(name))
    } catch (error) {
      // The lease expires by itself, and the next attempt finds what this one created.
      request.log.warn({ err: error }, 'answer for an idempotency key not stored')
    }
    return payload
  })
}

async function storeOutcome(
  { attempt, id, subjects, isMade = async () => false }: KeyedAttempt,
  status: number,
  payload: unknown,
  headerOf: (name: string) => unknown,
): Promise<void> {
  // 499: the client went away while it waited, and its next request goes on waiting.
  if (status >= 500 || status === 499) return attempt.giveUp()
  // A refusal may pass: without an effect, a repeated request is executed. It is not if something was made before.
  if (status >= 400) return (await isMade().catch(() => true)) ? attempt.giveUp() : attempt.forget()
  const headers: Record<string, string> = {}
  const location = headerOf('content-location')
  if (typeof location === 'string') headers['content-location'] = location
  await attempt.answer({ status, body: typeof payload === 'string' ? payload : '', headers }, [id, ...subjects])
}

/**
 * Creates what a request asks for once: if an earlier attempt created it, that is returned instead. `find` returns
 * null for an unknown id. A `create` that takes a while before its effect calls `confirm` directly before it: it throws
 * `conflict` if another attempt has taken over because this process stood still. `isMade` says the same as `find`, for
 * requests that are refused: default, it is asked.
 */
export async function once<T>(request: FastifyRequest, { create, find, isMade }: Once<T>): Promise<T> {
  const keyed = request.idempotency
  for (const id of keyed?.earlierIds ?? []) {
    const found = await find(id)
    if (found !== null && keyed) {
      keyed.subjects.push(id)
      keyed.isMade = async () => true
      return found
    }
  }
  if (request.idempotency?.isBegun)
    throw new AppError('not_found', 'The record that was created with this Idempotency-Key has been deleted.')
  const confirm = confirmFor(request)
  await confirm()
  const id = keyed?.id ?? newId()
  if (keyed) keyed.isMade = async () => (isMade === undefined ? (await find(id)) !== null : isMade(id))
  return create(id, confirm)
}

interface Once<T> {
  create: (id: string, confirm: Confirm) => Promise<T>
  find: (id: string) => Promise<T | null>
  isMade?: (id: string) => Promise<boolean>
}

export type Confirm = () => Promise<void>

/** See `once`. */
export function confirmFor({ idempotency }: FastifyRequest): Confirm {
  return async () => idempotency?.attempt.confirm()
}

/** Turns a look-up into one for `once`: null if nothing is found. */
export async function orNull<T>(looking: Promise<T>): Promise<T | null> {
  return looking.catch((error: unknown) => {
    if (error instanceof AppError && (error.code === 'not_found' || error.code === 'forbidden')) return null
    throw error
  })
}

/** Adds a record that the answer belongs to, such as the thread of a run. */
export function belongsTo(request: FastifyRequest, ...ids: string[]): void {
  if (request.idempotency) addAll(request.idempotency.subjects, ids)
}

/** Notes that the run or ingestion has begun and is answered as it continues: a repeated request follows it. */
export async function answerIsFollowed(request: FastifyRequest): Promise<void> {
  const keyed = request.idempotency
  if (keyed === null || keyed.isBegun) return
  request.idempotency = null
  keyed.stopRenewing()
  await keyed.attempt.follow([keyed.id, ...keyed.subjects]).catch((error: unknown) => {
    request.log.warn({ err: error }, 'outcome for an idempotency key not stored')
  })
}

function comparedBody({ body, routeOptions }: FastifyRequest): unknown {
  const { idempotent } = routeOptions.config
  if (typeof idempotent !== 'object' || !isJsonObject(body)) return body
  return Object.fromEntries(Object.entries(body).filter(([name]) => !idempotent.except.includes(name)))
}

/** The owner of the key, and the records that the request always belongs to. */
export function keyOwnerOf(request: FastifyRequest): { caller: string; subjects: string[] } {
  const inPath = Object.values(isJsonObject(request.params) ? request.params : {}).map(String)
  if (request.session) {
    const { user, projectId } = request.session
    return { caller: `user ${user._id} in ${projectId}`, subjects: [user._id, projectId, ...inPath] }
  }
  if (request.publicAssistant) {
    const { _id, user_id: userId, project_id: projectId } = request.publicAssistant
    return { caller: `assistant ${_id}`, subjects: [userId, projectId, _id, ...inPath] }
  }
  // A sign-up has no account yet, so the address identifies the caller.
  const email: unknown = isJsonObject(request.body) ? request.body['email'] : undefined
  return { caller: `address ${typeof email === 'string' ? normalizeEmail(email) : ''}`, subjects: [] }
}

const Key = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: String.raw`^[\x21-\x7e]+$`,
  description:
    'A random text. For 24 hours, the same request with the same key takes effect once and gets the same answer.',
})

interface FollowOnce {
  /** Calls `confirm` before the run is stored if it prepares it first. */
  start: (runId: string, confirm: Confirm) => Promise<FollowedRun>
  /** Throws `not_found` for a run that is missing or not the caller's. */
  find: (runId: string) => Promise<RunRecord>
  follow: (run: RunRecord) => Promise<RunFeed>
  /** The key is deleted with the thread. False: it stays for a day, so that a repeated request does not run again. */
  keyEndsWithThread?: boolean
}

/**
 * The run that a request asks for, followed from its start: started now, or by an earlier attempt of the same
 * request.
 */
export async function followOnce(
  request: FastifyRequest,
  { start, find, follow, keyEndsWithThread = true }: FollowOnce,
): Promise<FollowedRun> {
  const followed = await once(request, {
    create: start,
    find: async (id) => {
      const run = await findStarted(find, id)
      return run === null ? null : { run, feed: await follow(run) }
    },
    // Without a feed, which would have to be closed.
    isMade: async (id) => (await findStarted(find, id)) !== null,
  })
  if (keyEndsWithThread) belongsTo(request, followed.run.thread_id)
  return followed
}

/** As `followOnce`, for callers who do not wait for the run. */
export async function startOnce(
  request: FastifyRequest,
  { start, find }: { start: (runId: string, confirm: Confirm) => Promise<RunRecord>; find: FollowOnce['find'] },
): Promise<RunRecord> {
  const run = await once(request, { create: start, find: (id) => findStarted(find, id) })
  belongsTo(request, run.thread_id)
  return run
}

/** A run that could not be passed to its thread was answered with 503: the next attempt starts another. */
async function findStarted(find: FollowOnce['find'], id: string): Promise<RunRecord | null> {
  const run = await orNull(find(id))
  return run?.error?.type === 'unavailable' ? null : run
}
