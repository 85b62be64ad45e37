import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createActions } from './actions.ts'
import { prepareBystander } from './bystander.ts'
import { createCaller } from './caller.ts'
import { check } from './checker/check.ts'
import { type Stores, openStores } from './checker/stores.ts'
import { type ClientLog, type Problem, createClientLog } from './client-log.ts'
import { createFollow } from './follow.ts'
import { type Injection, journalLoss, roundOfInjections } from './injections.ts'
import { createSimulatedUser, probe, simulateUser } from './load.ts'
import { type Progress, createProgress } from './progress.ts'
import { type Random, createRandom } from './random.ts'
import { type Injected, reportTable } from './report.ts'
import { type WholeService, startWholeService, thisCheckout } from './service.ts'
import { soak } from './soak.ts'
import { startStandIns } from './stand-ins.ts'
import { makeFirstCurrent, upgradeSteps } from './upgrade.ts'

export interface FaultsOptions {
  /** How many faults are injected; ignored with `upgrade` and `soakMinutes`. */
  faults: number
  seed: string
  /**
   * Instead of faults, a rolling upgrade and its rollback. The first build runs the code in the folder `from`, the
   * second the code of this checkout; clients work for `pauseMs` between two steps.
   */
  upgrade?: { from: string; pauseMs: number }
  /** Instead of faults, clients work for so many minutes, after which no process may have grown. */
  soakMinutes?: number | undefined
  /** Injects a fault that the service cannot survive, instead of the others: the checker must find the loss. */
  isControl?: boolean
  /** Only faults whose name contains this. */
  only?: string
  /** Number of users that work at the same time. */
  clients?: number
  say: (line: string) => void
}

export interface FaultsResult {
  injected: Injected[]
  problems: Problem[]
  table: string
  /** Number of intentions by kind. */
  intended: Record<string, number>
  acknowledged: Record<string, number>
  /** Where logs and data were kept; removed when nothing was wrong. */
  dataDir: string
}

const probes = 2

/** How long a client repeats a request, a stream may pause, and the service may take to become idle. */
const limits = { patienceMs: 120_000, recoveryMs: 30_000, quietMs: 180_000 }
/** For the control, after which the service cannot recover. */
const shortLimits = { patienceMs: 10_000, recoveryMs: 3_000, quietMs: 10_000 }

/** Starts the whole service, injects faults under load, waits until it is idle, and checks the stores. */
export async function runFaults({
  faults,
  seed,
  isControl = false,
  only = '',
  clients = 4,
  upgrade,
  soakMinutes,
  say,
}: FaultsOptions): Promise<FaultsResult> {
  const random = createRandom(seed)
  const { patienceMs, recoveryMs, quietMs } = isControl ? shortLimits : limits
  const dataDir = await mkdtemp(path.join(tmpdir(), 'assistant-faults-'))
  await mkdir(path.join(dataDir, 'logs'), { recursive: true })
  const log = createClientLog(path.join(dataDir, 'client.jsonl'))
  const standIns = await startStandIns()
  const from = upgrade && { root: upgrade.from, id: '1' }
  const service = await startWholeService({ dataDir, env: standIns.env, say, ...(from && { build: from }) })
  const stores = await openStores({ addresses: service.addresses, dataDir })
  const progress = createProgress()
  const clientOf = (name: string, patience = patienceMs) => {
    const own = random.child(name)
    const caller = createCaller({ urls: service.clientUrls, random: own, log, patienceMs: patience })
    const follow = createFollow({ caller, log, progress })
    return { own, caller, actions: createActions({ caller, log, random: own, follow, mails: standIns.mails }) }
  }

  let isStopped = false
  let isSound = false
  try {
    if (from) await makeFirstCurrent(service, from)
    const bystander = clientOf('bystander', limits.patienceMs)
    const { undisturbed, digest } = await prepareBystander(bystander, stores)
    const before = await digest()
    say(`The service is up; logs are in ${dataDir}. ${clients} users and ${probes} streams start.`)

    const working: Promise<void>[] = []
    for (let number = 0; number < clients + probes; number++) {
      const { actions, own } = clientOf(`client ${number}`)
      const simulated = await createSimulatedUser(clientOf(`new client ${number}`, limits.patienceMs).actions)
      working.push(
        number < probes
          ? probe(simulated, actions, () => isStopped)
          : simulateUser(simulated, actions, own, () => isStopped),
      )
    }
    // An unexpected failure of a client ends everything.
    const failure = Promise.race(working.map((work) => work.then(() => new Promise<never>(() => {}))))
    failure.catch(() => undefined)

    const injected: Injected[] = []
    const soaked =
      soakMinutes === undefined
        ? undefined
        : await Promise.race([soak(service, { minutes: soakMinutes, say }), failure])
    const injections = from
      ? upgradeSteps({ service, stores, from, to: { ...thisCheckout, id: '2' } }).values()
      : injectionsOf({ faults: soaked ? 0 : faults, service, standIns, random, dataDir, isControl, only })
    for (const injection of injections) {
      const one = await Promise.race([disturb(injection, { progress, log, limitMs: recoveryMs }), failure])
      injected.push(one)
      const felt = one.recoveryMs === undefined ? '' : `, streams paused for ${(one.recoveryMs / 1000).toFixed(1)} s`
      say(`${injected.length} ${one.fault} (${one.details})${felt}`)
      await Promise.race([pause(upgrade?.pauseMs ?? random.between(0, 500)), failure])
    }

    isStopped = true
    say('Waiting until the service is idle.')
    await Promise.race([Promise.all(working), failure])
    const unfinished = await untilQuiet(stores, quietMs)
    const problems = [
      ...log.problems,
      ...(soaked?.problems ?? []),
      ...(await check({ log, stores, effects: standIns.effects, mails: standIns.mails, undisturbed, unfinished })),
      ...wrongOf(service, before === (await digest())),
    ]
    const counts = (wanted: (one: { acknowledged: object | undefined }) => boolean) =>
      Object.fromEntries(
        Object.entries(Object.groupBy([...log.intentions.values()].filter(wanted), ({ kind }) => kind)).map(
          ([kind, all]) => [kind, all.length],
        ),
      )
    isSound = problems.length === 0
    return {
      injected,
      problems,
      table: soaked?.table ?? reportTable(injected, problems, upgrade ? 'step' : 'fault'),
      intended: counts(() => true),
      acknowledged: counts(({ acknowledged }) => acknowledged !== undefined),
      dataDir,
    }
  } finally {
    isStopped = true
    await stores.close()
    await service.stop()
    await standIns.close()
    await log.close()
    if (isSound || isControl) await rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 })
  }
}

/** Injects one fault while a stream is in the middle of its answer, and measures how long streams pause after it. */
export async function disturb(
  { fault, details, inject }: Injection,
  { progress, log, limitMs }: { progress: Progress; log: ClientLog; limitMs: number },
): Promise<Injected> {
  await progress.untilBusy()
  const standstill = progress.before()
  const startedAt = Date.now()
  log.write({ fault, details })
  const endedAt = await inject()
  const recoveryMs = await standstill(endedAt, limitMs)
  log.write({ fault, recoveryMs })
  return { fault, details, startedAt, endedAt, recoveryMs }
}

/** Every fault equally often, in an order that the seed decides. */
function* injectionsOf({
  faults,
  service,
  standIns,
  random,
  dataDir,
  isControl,
  only,
}: {
  faults: number
  service: WholeService
  standIns: Awaited<ReturnType<typeof startStandIns>>
  random: Random
  dataDir: string
  isControl: boolean
  only: string
}): Generator<Injection, void> {
  for (let left = faults; left > 0;) {
    const round = isControl
      ? [journalLoss(service, dataDir)]
      : roundOfInjections({ service, standIns, random }).filter(({ fault }) => fault.includes(only))
    if (round.length === 0) throw new Error(`no fault is called ${only}`)
    yield* random.shuffled(round).slice(0, left)
    left -= round.length
  }
}

/** Waits until no work is under way; returns the work that still is when the limit is reached. */
export async function untilQuiet(stores: Pick<Stores, 'unfinished'>, limitMs: number): Promise<string[]> {
  const deadline = Date.now() + limitMs
  for (;;) {
    const unfinished = await stores.unfinished()
    if (unfinished.length === 0 || Date.now() > deadline) return unfinished
    await pause(250)
  }
}

function wrongOf({ crashes, errors }: WholeService, isBystanderTheSame: boolean): Problem[] {
  const now = Date.now()
  const wrong = (what: string): Problem => ({ kind: 'wrong', what, from: now, until: now })
  return [
    ...crashes.map((name) => wrong(`${name} ended by itself`)),
    ...[...errors.keys()].filter((line) => /unexpected error|worker of this process failed/.test(line)).map(wrong),
    ...(isBystanderTheSame ? [] : [wrong('what a bystander has is not what it was before')]),
  ]
}
