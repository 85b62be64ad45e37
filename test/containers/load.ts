import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import mongoose from 'mongoose'
import { createActions } from '../../faults/actions.ts'
import { prepareBystander } from '../../faults/bystander.ts'
import { createCaller } from '../../faults/caller.ts'
import { check } from '../../faults/checker/check.ts'
import { openStores } from '../../faults/checker/stores.ts'
import { type Problem, createClientLog } from '../../faults/client-log.ts'
import { createFollow } from '../../faults/follow.ts'
import type { Injection } from '../../faults/injections.ts'
import { createSimulatedUser, probe, simulateUser } from '../../faults/load.ts'
import { createProgress } from '../../faults/progress.ts'
import { createRandom } from '../../faults/random.ts'
import { type Injected, reportTable } from '../../faults/report.ts'
import { disturb, untilQuiet } from '../../faults/run-faults.ts'
import { startStandIns } from '../../faults/stand-ins.ts'
import { countIncompleteBlobs } from '../../infra/backup/incomplete-blobs.ts'
import { createObjectLocation } from '../../infra/objects/object-location.ts'
import { lanceBucket } from '../../infra/vectors/lance-bucket.ts'
import type { Installation } from './installation.ts'
import { openToContainers } from './installation.ts'
import { watchSchedule } from './schedule.ts'

const patienceMs = 180_000
/** Streams that answer all the time, and users that do everything. */
const probes = 2

/** Model, tools and mail receiver of the load, with the settings by which containers reach them. */
export async function startStandInsForContainers() {
  const doors: { close: () => void }[] = []
  const standIns = await startStandIns(async (address) => {
    const door = await openToContainers(Number(address.split(':')[1]))
    doors.push(door)
    return `host.containers.internal:${door.port}`
  })
  return {
    ...standIns,
    // Users work without rest, and keep their threads.
    env: { ...standIns.env, RATE_LIMITS: 'off', THREAD_MAX_DEFAULT: '1000000' },
    async close() {
      for (const door of doors) door.close()
      await standIns.close()
    },
  }
}

function addressesOf({ engine, container, folder }: Installation) {
  const address = async (service: string) => {
    const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}'
    const [ip = ''] = (await engine.podman(['inspect', '--format', format, container(service)])).trim().split(' ')
    return ip
  }
  const secret = async (name: string) => (await readFile(path.join(folder, 'secrets', name), 'utf8')).trim()
  return {
    address,
    secret,
    mongodb: async () => `mongodb://${await address('mongo')}:27017/assistants?directConnection=true&retryWrites=false`,
    bucket: async (prefix: string) =>
      lanceBucket(
        `s3://assistants/${prefix}?endpoint=http://${await address('objects')}:7070`,
        {
          s3AccessKeyId: await secret('s3_access_key_id'),
          s3SecretAccessKey: await secret('s3_secret_access_key'),
        },
        fetch,
      ),
  }
}

/** How many files of an installation with a bucket lack bytes. */
async function incompleteBlobsOf(installed: Installation): Promise<number> {
  const { mongodb, bucket } = addressesOf(installed)
  const files = await bucket('files')
  const connection = await mongoose.createConnection(await mongodb()).asPromise()
  try {
    return await countIncompleteBlobs(connection, files && createObjectLocation(files.objects))
  } finally {
    await connection.close()
  }
}

/** The stores of an installation, as the machine of the containers reaches them. */
export async function storesOf(installed: Installation, onBucket = false) {
  const { engine, project } = installed
  const { address, secret, mongodb, bucket } = addressesOf(installed)
  const redis = new URL(await secret('redis_url'))
  redis.hostname = await address('redis')
  const volume = ['volume', 'inspect', '--format', '{{.Mountpoint}}', `${project}_service-data`]
  return openStores({
    addresses: {
      MongoDB: await mongodb(),
      Redis: redis.toString(),
      Temporal: `${await address('temporal')}:7233`,
    },
    dataDir: (await engine.podman(volume)).trim(),
    bucket: onBucket ? await bucket('vectors') : undefined,
  })
}

/**
 * Clients that do what users do, through the proxy, while faults are injected; at the end the checker of `npm run faults`
 * looks at every record in every store.
 */
export async function startLoad(options: {
  installed: Installation
  standIns: Awaited<ReturnType<typeof startStandInsForContainers>>
  url: string
  users: number
  seed: string
  say: (line: string) => void
  /** Files and vectors are in a bucket. */
  onBucket?: boolean
}) {
  const { installed, standIns, url, users, seed, say, onBucket = false } = options
  const random = createRandom(seed)
  const log = createClientLog(path.join(installed.folder, `client-${seed}.jsonl`))
  const progress = createProgress()
  const clientOf = (name: string) => {
    const own = random.child(name)
    const caller = createCaller({ urls: [url], random: own, log, patienceMs, isBehindProxy: true })
    const follow = createFollow({ caller, log, progress })
    return { own, caller, actions: createActions({ caller, log, random: own, follow, mails: standIns.mails }) }
  }
  const before = await storesOf(installed, onBucket)
  const { undisturbed, digest } = await prepareBystander(clientOf('bystander'), before)
  const digestBefore = await digest()
  await before.close()
  say(`${users} users and ${probes} streams start`)

  let isStopped = false
  const working: Promise<void>[] = []
  for (let number = 0; number < users + probes; number++) {
    const { actions, own } = clientOf(`client ${number}`)
    const simulated = await createSimulatedUser(actions)
    working.push(
      number < probes
        ? probe(simulated, actions, () => isStopped)
        : simulateUser(simulated, actions, own, () => isStopped),
    )
  }
  const planner = clientOf('planner')
  const schedule = await watchSchedule(planner.caller, await createSimulatedUser(planner.actions))
  const failure = Promise.race(working.map((work) => work.then(() => new Promise<never>(() => {}))))
  failure.catch(() => undefined)
  const injected: Injected[] = []

  return {
    /** Lets the clients work, and injects the fault in the middle of an answer. */
    async disturb(injection: Injection): Promise<void> {
      const one = await Promise.race([disturb(injection, { progress, log, limitMs: 60_000 }), failure])
      injected.push(one)
      const felt = one.recoveryMs === undefined ? '' : `: streams paused for ${(one.recoveryMs / 1000).toFixed(1)} s`
      say(`${one.fault}${felt}${log.problems.length > 0 ? `; ${log.problems.length} problems so far` : ''}`)
    },
    /** Lets the clients work undisturbed. */
    work: (ms: number) => Promise.race([pause(ms), failure]),
    /** Lets the clients end, waits until the service is idle, and counts. */
    async end() {
      isStopped = true
      await Promise.race([Promise.all(working), failure])
      const planned = await schedule.end()
      const stores = await storesOf(installed, onBucket)
      try {
        const unfinished = await untilQuiet(stores, 240_000)
        const { effects, mails } = standIns
        const found = await check({ log, stores, effects, mails, undisturbed, unfinished })
        const now = Date.now()
        const wrong = (what: string): Problem => ({ kind: 'wrong', what, from: now, until: now })
        const problems = [...log.problems, ...found, ...planned.problems.map(wrong)]
        const after = await digest(stores)
        if (after !== digestBefore) problems.push(wrong('what a bystander has is not what it was before'))
        const incomplete = onBucket ? await incompleteBlobsOf(installed) : 0
        if (incomplete > 0) problems.push(wrong(`${incomplete} files lack bytes in the bucket`))
        const counted = Object.entries(Object.groupBy(log.intentions.values(), ({ kind }) => kind)).map(
          ([kind, all]) => `${all.length} ${kind}`,
        )
        say(`\n${reportTable(injected, problems)}\n${counted.join(', ')}; ${planned.runs} scheduled runs`)
        for (const { kind, what } of problems.slice(0, 40)) say(`${kind}: ${what}`)
        return problems
      } finally {
        await stores.close()
        await log.close()
      }
    },
  }
}
