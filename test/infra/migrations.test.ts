import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrate, schemaVersionNeeded } from '../../composition/migrations.ts'
import { loadSettings } from '../../infra/config.ts'
import { createLogger } from '../../infra/logger.ts'
import { type Database, connectDatabase } from '../../infra/mongo/connect.ts'
import { type MigrationStep, runMigrations } from '../../infra/mongo/run-migrations.ts'
import { requireSchema, schemaState, schemaVersion } from '../../infra/mongo/schema-version.ts'
import { eventually } from '../support/eventually.ts'
import { plainEnv } from '../support/plain-env.ts'
import { serviceEnv } from '../support/service.ts'

const root = path.join(import.meta.dirname, '../..')
const logger = createLogger('test', 'silent')

async function run(script: string, env: Record<string, string>): Promise<{ code: unknown; output: string }> {
  const child = spawn(process.execPath, [script], {
    cwd: root,
    env: { ...plainEnv(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [said, complained, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code, output: said + complained }
}

describe('the migrations', () => {
  const env = serviceEnv()
  const settings = loadSettings(env)
  let database: Database
  const others: Database[] = []
  beforeAll(async () => {
    database = await connectDatabase(settings.mongodbUri)
  })
  afterAll(async () => {
    await database.connection.dropDatabase()
    for (const one of [database, ...others]) await one.close()
  })
  const indexesOf = async (collection: string) =>
    (await database.connection.collection(collection).indexes()).map(({ key }) => key)

  it('are required: a process without them exits with an error that names the command', async () => {
    const api = await run('api/server.ts', env)
    expect(api.code).toBe(1)
    expect(api.output).toContain(`at schema version 0, and this version of the service needs ${schemaVersionNeeded}`)
    expect(api.output).toContain('npm run migrate')
    expect(await database.connection.listCollections()).toEqual([])
  })

  it('set up a new database once, also with two simultaneous jobs', async () => {
    const jobs = await Promise.all([migrate(settings, logger), migrate(settings, logger)])
    expect(jobs.map(({ to }) => to)).toEqual([schemaVersionNeeded, schemaVersionNeeded])
    expect(jobs.filter(({ from }) => from === 0)).toHaveLength(1)
    const state = await schemaState(database.connection).findOne({ _id: 'schema' })
    expect(state?.steps.map(({ number }) => number)).toEqual(
      Array.from({ length: schemaVersionNeeded }, (_, index) => index + 1),
    )
    expect(state).not.toHaveProperty('lease')
    const again = await run('scripts/migrate.ts', { ...env, LOG_LEVEL: 'info' })
    expect(again).toMatchObject({ code: 0, output: expect.stringContaining('migrations done') })
    expect(await schemaState(database.connection).findOne({ _id: 'schema' })).toEqual(state)
  })

  it('keep the indexes of operators', async () => {
    await schemaState(database.connection).deleteMany({})
    await database.connection.collection('assistants').createIndex({ name: 1 })
    expect(await migrate(settings, logger)).toEqual({ from: 0, to: schemaVersionNeeded })
    expect(await indexesOf('assistants')).toContainEqual({ name: 1 })
  })

  it('do not change a database of a newer version', async () => {
    const state = schemaState(database.connection)
    await state.updateOne({ _id: 'schema' }, { $inc: { version: 5 } })
    const version = schemaVersionNeeded + 5
    expect(await migrate(settings, logger)).toEqual({ from: version, to: version })
    await requireSchema(database.connection, schemaVersionNeeded, { waitSeconds: 0 })
    await state.updateOne({ _id: 'schema' }, { $inc: { version: -5 } })
  })

  it('have a step for every change of a collection or index', async () => {
    const file = path.join(import.meta.dirname, 'declared-indexes.json')
    const declared = Object.fromEntries(
      Object.values(database.connection.models)
        .map((model) => [model.collection.name, model.schema.indexes()] as const)
        .toSorted(([a], [b]) => a.localeCompare(b)),
    )
    const known: { version: number; collections: unknown } = JSON.parse(await readFile(file, 'utf8'))
    const now = { version: schemaVersionNeeded, collections: JSON.parse(JSON.stringify(declared)) }
    const isUpdate = process.env['UPDATE_INDEXES'] !== undefined && schemaVersionNeeded > known.version
    if (isUpdate) await writeFile(file, `${JSON.stringify(now, undefined, 2)}\n`)
    const expected = isUpdate ? now : known
    expect(now, 'add a step to composition/migrations.ts; then run this test with UPDATE_INDEXES=1').toEqual(expected)
  })

  describe('as a job', () => {
    interface Calls {
      order: string[]
      /** Resolves when the first attempt of the slow step is under way. */
      slowStarted: PromiseWithResolvers<void>
      release: PromiseWithResolvers<void>
    }
    const newCalls = (): Calls => ({
      order: [],
      slowStarted: Promise.withResolvers(),
      release: Promise.withResolvers(),
    })
    const steps = (job: string): MigrationStep<Calls>[] => [
      {
        number: 1,
        name: 'quick',
        run: async ({ order }) => {
          order.push(`${job} quick`)
        },
      },
      {
        number: 2,
        name: 'slow',
        run: async ({ order, slowStarted, release }, signal) => {
          order.push(`${job} slow`)
          slowStarted.resolve()
          if (job === 'first') await Promise.race([release.promise, once(signal, 'abort')])
        },
      },
    ]
    const newDatabase = async () => {
      const one = await connectDatabase(loadSettings(serviceEnv()).mongodbUri)
      others.push(one)
      return one.connection
    }
    const silent = { log: () => undefined }

    it('waits while another job renews its lease, however long a step takes', async () => {
      const connection = await newDatabase()
      const calls = newCalls()
      const leaseMs = 400
      // Only the test moves the clock, so that no pause of this process looks like a dead job.
      let time = Date.now()
      const jobs = { leaseMs, clock: () => time }
      const first = runMigrations(connection, steps('first'), calls, { ...silent, ...jobs })
      await calls.slowStarted.promise
      const waiting = Promise.withResolvers<string>()
      const second = runMigrations(connection, steps('second'), calls, { log: waiting.resolve, ...jobs })
      expect(await waiting.promise).toContain('waiting for the migration job')
      const isRenewed = async () => {
        const state = await schemaState(connection).findOne({ _id: 'schema' })
        return state?.lease?.expires_at.getTime() === time + leaseMs
      }
      for (let renewals = 0; renewals < 12; renewals += 1) {
        time += leaseMs / 4
        await eventually('the renewal', isRenewed)
      }
      calls.release.resolve()
      expect(await first).toEqual({ from: 0, to: 2 })
      expect(await second).toEqual({ from: 2, to: 2 })
      expect(calls.order).toEqual(['first quick', 'first slow'])
      await connection.dropDatabase()
    })

    it('takes over from a killed job, and repeats the step that was not completed', async () => {
      const connection = await newDatabase()
      const calls = newCalls()
      const leaseMs = 300
      let time = Date.now()
      await schemaState(connection).insertOne({
        _id: 'schema',
        version: 1,
        steps: [{ number: 1, name: 'quick', finished_at: new Date(), took_ms: 1 }],
        lease: { id: 'of the dead', holder: 'elsewhere:1', expires_at: new Date(time + leaseMs) },
      })
      const said: string[] = []
      const log = (line: string) => {
        said.push(line)
        time += leaseMs
      }
      expect(await runMigrations(connection, steps('second'), calls, { log, leaseMs, clock: () => time })).toEqual({
        from: 1,
        to: 2,
      })
      expect(said[0]).toContain('elsewhere:1')
      expect(calls.order).toEqual(['second slow'])
      await connection.dropDatabase()
    })

    it('stops when it has lost its lease, and cannot advance the version', async () => {
      const connection = await newDatabase()
      const calls = newCalls()
      const first = runMigrations(connection, steps('first'), calls, { ...silent, leaseMs: 300 })
      const failed = first.catch((error: unknown) => String(error))
      await calls.slowStarted.promise
      // As if it had stood still for so long that another job took over.
      const lease = { id: 'another', holder: 'elsewhere:1', expires_at: new Date(Date.now() + 60_000) }
      await schemaState(connection).updateOne({ _id: 'schema' }, { $set: { lease } })
      expect(await failed).toContain('lost its lease')
      expect(await schemaVersion(connection)).toBe(1)
      expect((await schemaState(connection).findOne({ _id: 'schema' }))?.lease?.id).toBe('another')
      await connection.dropDatabase()
    })

    it('makes a starting process wait', async () => {
      const connection = await newDatabase()
      const calls = newCalls()
      const waiting = Promise.withResolvers<string>()
      const ready = requireSchema(connection, 2, { waitSeconds: 60, onWait: waiting.resolve })
      expect(await waiting.promise).toContain('waiting for the migrations up to 2')
      await runMigrations(connection, steps('second'), calls, silent)
      await ready
      await connection.dropDatabase()
    })
  })
})
