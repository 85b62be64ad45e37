import { setTimeout as pause } from 'node:timers/promises'
import type { Stores } from './checker/stores.ts'
import type { Injection } from './injections.ts'
import { type Build, type WholeService, deploymentName } from './service.ts'

interface UpgradeDeps {
  service: Pick<WholeService, 'clientUrls' | 'runScript' | 'start' | 'stopGently' | 'untilReady'>
  stores: Pick<Stores, 'temporal'>
  /** The build that serves at the beginning and, after the rollback, at the end. */
  from: VersionedBuild
  to: VersionedBuild
}

export type VersionedBuild = Required<Build>

const apis = ['api 1', 'api 2']
const oldWorkers = ['worker 1', 'worker 2']
const newWorkers = ['worker 3', 'worker 4']

/** How long the server may take to accept a build, and to report one as drained. */
const limitMs = 120_000

/**
 * A rolling upgrade and its rollback, in the order of docs/operations/upgrade.md: workers are never older than API
 * processes.
 */
export function upgradeSteps({ service, stores, from, to }: UpgradeDeps): Injection[] {
  const step = (fault: string, details: string, work: () => Promise<void>): Injection => ({
    fault,
    details,
    async inject() {
      const startedAt = Date.now()
      await work()
      return startedAt
    },
  })
  const versions = (...args: string[]) => service.runScript(to, 'worker-versions.ts', ...args)
  const startWorkers = (build: VersionedBuild, names: string[]) =>
    step('start workers', `build ${build.id} beside the other`, async () => {
      for (const name of names) await service.start(name, build)
      for (const name of names) await service.untilReady(name)
    })
  const replaceApis = (build: VersionedBuild) =>
    apis.map((name, index) =>
      step('replace API', `${name} by build ${build.id}`, async () => {
        await service.stopGently(name)
        await service.start(name, build)
        await service.untilReady(name)
        await untilAccepted(() => expectReady(service.clientUrls[index] ?? ''))
      }),
    )
  const ramp = ({ id }: VersionedBuild) =>
    step('ramp', `half of the work to build ${id}`, () => untilAccepted(() => versions('ramp', id, '50')))
  const makeCurrent = ({ id }: VersionedBuild) =>
    step('make current', `build ${id}`, () => untilAccepted(() => versions('current', id)))
  const stopDrained = (build: VersionedBuild, names: string[], current: VersionedBuild) =>
    step('drain and stop workers', `build ${build.id}`, async () => {
      await untilDrained(versions, build.id)
      const query = `TemporalWorkerDeploymentVersion = "${deploymentName}:${current.id}"`
      const { count } = await stores.temporal.workflow.count(query)
      if (count === 0) throw new Error(`build ${current.id} is current, but executed nothing`)
      await Promise.all(names.map((name) => service.stopGently(name)))
    })

  return [
    step('migrate', `by build ${to.id}`, async () => void (await service.runScript(to, 'migrate.ts'))),
    startWorkers(to, newWorkers),
    ramp(to),
    makeCurrent(to),
    ...replaceApis(to),
    stopDrained(from, oldWorkers, to),
    startWorkers(from, oldWorkers),
    ...replaceApis(from),
    ramp(from),
    makeCurrent(from),
    stopDrained(to, newWorkers, from),
  ]
}

/** Makes the build current in the beginning. */
export function makeFirstCurrent(service: Pick<WholeService, 'runScript'>, from: VersionedBuild): Promise<void> {
  return untilAccepted(() => service.runScript(from, 'worker-versions.ts', 'current', from.id))
}

async function expectReady(url: string): Promise<void> {
  const { status } = await fetch(`${url}/ready`)
  if (status !== 200) throw new Error(`${url}/ready answered ${status}`)
}

/** Repeats what is refused at first: the server refuses a build until a worker of it has polled every queue. */
async function untilAccepted(work: () => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + limitMs
  for (;;) {
    try {
      await work()
      return
    } catch (error) {
      if (Date.now() > deadline) throw error
      await pause(500)
    }
  }
}

async function untilDrained(versions: (command: string) => Promise<string[]>, id: string): Promise<void> {
  const deadline = Date.now() + limitMs
  for (;;) {
    const lines = await versions('list')
    if (lines.includes(`${id}\tdrained`)) return
    if (Date.now() > deadline)
      throw new Error(`build ${id} is not drained within ${limitMs / 1000} s: ${lines.join(', ')}`)
    await pause(1_000)
  }
}
