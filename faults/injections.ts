import { globSync, rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { TcpProxy } from '../test/support/tcp-proxy.ts'
import type { Random } from './random.ts'
import { type ProcessName, type ServerName, type WholeService, processNames, serverNames } from './service.ts'

export interface Injection {
  /** A row of the report, such as `kill worker`. */
  fault: string
  /** The target and the duration. */
  details: string
  /** Injects the fault, waits for its end, and returns the time from which recovery is measured. */
  inject: () => Promise<number>
}

interface InjectionDeps {
  service: WholeService
  standIns: { proxies: Record<'model' | 'tools' | 'mail', TcpProxy> }
  random: Random
}

const shortMs = 300
const longMs = 5_000

/**
 * Every fault once; the seed determines target and duration of each. A killed process or server is restarted by its
 * supervisor, as with `npm start`.
 */
export function roundOfInjections({ service, standIns, random }: InjectionDeps): Injection[] {
  const api = random.pick(['api 1', 'api 2'] as const)
  const worker = random.pick(['worker 1', 'worker 2'] as const)
  const proxiesOf = (server: ServerName) => {
    // In half of the cases all processes lose the server, otherwise one of them.
    const names: readonly ProcessName[] = random.between(0, 1) === 0 ? processNames : [random.pick(processNames)]
    return { proxies: service.between(names, server), details: names.length === 1 ? `of ${names[0]}` : 'of all' }
  }
  const duration = () => random.between(shortMs, longMs)

  const killed = (name: string, fault: string): Injection => ({
    fault,
    details: name,
    async inject() {
      await service.untilReady(name)
      const killedAt = Date.now()
      service.kill(name)
      // Other processes take over the work of a killed process, but a killed server must be restarted first.
      const isServer = serverNames.some((server) => server === name)
      if (!isServer) return killedAt
      await service.untilReady(name)
      return Date.now()
    },
  })
  const stopped = (name: string, fault: string): Injection => {
    const ms = duration()
    return {
      fault,
      details: `${name} for ${ms} ms`,
      async inject() {
        await service.untilReady(name)
        service.signal(name, 'SIGSTOP')
        await pause(ms)
        service.signal(name, 'SIGCONT')
        return Date.now()
      },
    }
  }
  const disturbed = (
    fault: string,
    { proxies, details }: { proxies: TcpProxy[]; details: string },
    disturb: (proxy: TcpProxy) => void,
    ms = duration(),
  ): Injection => ({
    fault,
    details: `${details} for ${ms} ms`,
    async inject() {
      for (const proxy of proxies) disturb(proxy)
      await pause(ms)
      for (const proxy of proxies) proxy.restore()
      return Date.now()
    },
  })
  const cut = (fault: string, proxies: TcpProxy[], details: string): Injection =>
    disturbed(fault, { proxies, details }, (proxy) => proxy.cut(), 0)
  const standIn = (name: 'model' | 'tools' | 'mail') => ({ proxies: [standIns.proxies[name]], details: name })
  const clients = () => ({ proxies: [random.pick(service.toClients())], details: 'of one API process' })

  const slowed = random.between(20, 200)
  const refuse = (proxy: TcpProxy) => proxy.refuse()
  const swallow = (proxy: TcpProxy) => proxy.swallow()
  const slow = (proxy: TcpProxy) => proxy.slow(slowed)
  return [
    killed(api, 'kill API'),
    killed(worker, 'kill worker'),
    stopped(api, 'stop API'),
    stopped(worker, 'stop worker'),
    ...serverNames.flatMap((server) => {
      const cutOff = proxiesOf(server)
      return [
        killed(server, `kill ${server}`),
        stopped(server, `stop ${server}`),
        cut(`cut ${server}`, cutOff.proxies, cutOff.details),
        disturbed(`refuse ${server}`, proxiesOf(server), refuse),
        disturbed(`slow ${server}`, proxiesOf(server), slow),
        disturbed(`silence ${server}`, proxiesOf(server), swallow),
      ]
    }),
    cut('cut model', [standIns.proxies.model], 'model'),
    disturbed('refuse model', standIn('model'), refuse),
    disturbed('slow model', standIn('model'), slow),
    disturbed('silence model', standIn('model'), swallow),
    cut('cut tools', [standIns.proxies.tools], 'tools'),
    disturbed('silence tools', standIn('tools'), swallow),
    disturbed('refuse mail', standIn('mail'), refuse),
    disturbed('silence mail', standIn('mail'), swallow),
    cut('cut clients', service.toClients(), 'all'),
    disturbed('slow clients', clients(), slow),
    disturbed('silence clients', clients(), swallow),
  ]
}

/**
 * The control: the database is killed and loses its journal, as if it had never written one. Acknowledged writes
 * since its last checkpoint are lost, and the checker must find this.
 */
export function journalLoss(service: WholeService, dataDir: string): Injection {
  return {
    fault: 'kill MongoDB without journal',
    details: 'MongoDB',
    async inject() {
      await service.untilReady('MongoDB')
      service.kill('MongoDB')
      for (const file of globSync('{mongod,secantusdb}/**/WiredTigerLog.*', { cwd: dataDir }))
        rmSync(path.join(dataDir, file), { force: true })
      await service.untilReady('MongoDB')
      return Date.now()
    },
  }
}
