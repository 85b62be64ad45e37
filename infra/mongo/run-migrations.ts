import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import mongoose from 'mongoose'
import { newId } from '../../domain/ids.ts'
import type { SchemaStateRecord } from '../../domain/records/schema-state.ts'
import { schemaState } from './schema-version.ts'

/**
 * One change of the database. A job that is killed half-way leaves a step half done, and the next job
 * runs it again from its beginning: a step must be safe to repeat. It must also leave everything in place
 * that the previous version of the service uses, because processes of that version are still running.
 */
export interface MigrationStep<Context> {
  number: number
  name: string
  /** `signal` is aborted when the job has lost its lease: stop, another job may have begun the same step. */
  run(context: Context, signal: AbortSignal): Promise<void>
}

interface MigrationOptions {
  log(message: string): void
  /** How long other jobs wait for one that has died. */
  leaseMs?: number
  /** Milliseconds since the epoch, by which leases expire. */
  clock?: () => number
}

const defaultLeaseMs = 60_000

/** Runs the steps that the database has not seen, in order. Of several jobs at once, one runs and the others wait. */
export async function runMigrations<Context>(
  connection: mongoose.Connection,
  steps: MigrationStep<Context>[],
  context: Context,
  options: MigrationOptions,
): Promise<{ from: number; to: number }> {
  checkNumbers(steps)
  const state = schemaState(connection)
  const latest = steps.length
  const current = await state.findOne({ _id: 'schema' })
  if (current !== null && current.version >= latest) return { from: current.version, to: current.version }
  if (current === null) await insertState(state)

  const lease = await takeLease(state, options)
  try {
    for (const step of steps.slice(lease.version)) {
      options.log(`step ${step.number} of ${latest}: ${step.name}`)
      const startedAt = Date.now()
      await Promise.race([step.run(context, lease.lost), rejection(lease.lost)])
      await lease.complete(step, Date.now() - startedAt)
    }
    return { from: lease.version, to: Math.max(lease.version, latest) }
  } finally {
    await lease.release()
  }
}

function checkNumbers(steps: Pick<MigrationStep<never>, 'number' | 'name'>[]): void {
  for (const [index, step] of steps.entries())
    if (step.number !== index + 1)
      throw new Error(`migration step "${step.name}" has number ${step.number} but is at position ${index + 1}`)
}

async function insertState(state: mongoose.mongo.Collection<SchemaStateRecord>): Promise<void> {
  try {
    await state.insertOne({ _id: 'schema', version: 0, steps: [] })
  } catch (error) {
    if (!(error instanceof mongoose.mongo.MongoServerError && error.code === 11_000)) throw error
  }
}

/** Waits until no other job holds the lease, then holds it until `release`, renewing it in the background. */
async function takeLease(
  state: mongoose.mongo.Collection<SchemaStateRecord>,
  { log, leaseMs = defaultLeaseMs, clock = Date.now }: MigrationOptions,
) {
  const id = newId()
  const holder = `${hostname()}:${process.pid}`
  const own = { _id: 'schema' as const, 'lease.id': id }
  const expiry = () => new Date(clock() + leaseMs)
  let taken: SchemaStateRecord | null = null
  for (let waitingFor: string | undefined; ;) {
    taken = await state.findOneAndUpdate(
      { _id: 'schema', $or: [{ lease: { $exists: false } }, { 'lease.expires_at': { $lte: new Date(clock()) } }] },
      { $set: { lease: { id, holder, expires_at: expiry() } } },
      { returnDocument: 'after' },
    )
    if (taken !== null) break
    const other = (await state.findOne({ _id: 'schema' }))?.lease?.holder
    if (other !== undefined && other !== waitingFor) log(`waiting for the migration job ${other}`)
    waitingFor = other ?? waitingFor
    await pause(Math.min(1000, leaseMs / 4))
  }

  const lost = new AbortController()
  const loseIt = () => lost.abort(new Error('this migration job lost its lease to another one'))
  let lockedUntil = clock() + leaseMs
  const renewal = setInterval(() => {
    const renewedAt = clock()
    state.updateOne(own, { $set: { 'lease.expires_at': expiry() } }).then(
      ({ matchedCount }) => {
        if (matchedCount === 0) loseIt()
        else lockedUntil = renewedAt + leaseMs
      },
      () => {
        // If the database is unreachable for a moment, the lease stays valid until it expires.
        if (clock() > lockedUntil) loseIt()
      },
    )
  }, leaseMs / 4)

  return {
    version: taken.version,
    lost: lost.signal,
    /** Only the holder of the lease advances the version. */
    async complete({ number, name }: Pick<MigrationStep<never>, 'number' | 'name'>, took_ms: number): Promise<void> {
      const { matchedCount } = await state.updateOne(
        { ...own, version: number - 1 },
        { $set: { version: number }, $push: { steps: { number, name, finished_at: new Date(), took_ms } } },
      )
      if (matchedCount === 0) throw new Error('this migration job lost its lease to another one')
    },
    async release(): Promise<void> {
      clearInterval(renewal)
      await state.updateOne(own, { $unset: { lease: 1 } })
    },
  }
}

async function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener(
      'abort',
      () => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted')),
      { once: true },
    )
  })
}
