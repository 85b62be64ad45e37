import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Injection } from '../../faults/injections.ts'
import { run } from '../../local/services/command.ts'
import type { Installation } from './installation.ts'

type Act = () => Promise<unknown>

const script = path.join(import.meta.dirname, 'files/slow_network.py')
const milliseconds = '200'
const percentLost = '5'
const queue = '46'

/** What networks and hosts do to a container; each is over when its promise is. */
function actsOn({ engine, project, container }: Installation, service: string) {
  const name = container(service)
  const pid = async () => (await engine.podman(['inspect', '--format', '{{.State.Pid}}', name])).trim()
  const acts: Record<string, Act> = {
    // From outside: what the engine itself kills, it does not start again.
    kill: async () => process.kill(Number(await pid()), 'SIGKILL'),
    stop: async () => {
      await engine.podman(['stop', '--time', '60', name])
      await engine.podman(['start', name])
    },
    pause: async () => {
      await engine.podman(['pause', name])
      await pause(10_000)
      await engine.podman(['unpause', name])
    },
    // With the addresses that it had, as when a cable is pulled.
    'cut off': async () => {
      const format = '{{range $name, $network := .NetworkSettings.Networks}}{{$name}}={{$network.IPAddress}} {{end}}'
      const networks = (await engine.podman(['inspect', '--format', format, name])).trim().split(' ')
      if (!networks.every((network) => network.startsWith(project))) throw new Error(`${name} has other networks`)
      const pairs = networks.map((network) => network.split('=')).map(([of = '', address = '']) => ({ of, address }))
      for (const { of } of pairs) await engine.podman(['network', 'disconnect', of, name])
      await pause(5_000)
      for (const { of, address } of pairs)
        await engine.podman(['network', 'connect', '--alias', service, '--ip', address, of, name])
    },
    slow: async () => {
      const inside = ['--target', await pid(), '--net']
      const rule = ['OUTPUT', '!', '-o', 'lo', '-j', 'NFQUEUE', '--queue-num', queue, '--queue-bypass']
      const slowing: ChildProcess = spawn('nsenter', [...inside, 'python3', script, milliseconds, percentLost, queue])
      const ended = once(slowing, 'exit')
      try {
        await run('nsenter', [...inside, 'iptables', '-I', ...rule])
        await pause(10_000)
      } finally {
        await run('nsenter', [...inside, 'iptables', '-D', ...rule])
        slowing.kill()
        await ended
      }
    },
  }
  return acts
}

const one = ['proxy', 'api', 'worker', 'redis', 'mongo', 'temporal', 'postgresql']
const inPairs = ['api', 'worker', 'redis', 'mongo', 'temporal']

/** Every fault of every container, and of `more`, then two of them at a time, the engine, and the clock. */
export function faultsOf(installed: Installation, more: string[] = []): Injection[] {
  const injection = (fault: string, details: string, act: Act, healthy: string[]): Injection => ({
    fault,
    details,
    async inject() {
      await act()
      for (const service of healthy) await installed.untilHealthy(installed.container(service))
      return Date.now()
    },
  })
  const { staying } = installed
  const faults: Injection[] = []
  for (const service of [...one, ...more])
    for (const [fault, act] of Object.entries(actsOn(installed, service)))
      faults.push(injection(`${fault} ${service}`, service, act, staying))
  for (const [index, first] of inPairs.entries())
    for (const second of inPairs.slice(index + 1))
      for (const fault of ['kill', 'cut off']) {
        const both = [first, second].map((service) => actsOn(installed, service)[fault] ?? (() => Promise.resolve()))
        const act = () => Promise.all(both.map((each) => each()))
        faults.push(injection(`${fault} ${first} and ${second}`, `${first}, ${second}`, act, staying))
      }
  faults.push(injection('engine restarted', 'all', () => restartEngine(installed), staying))
  for (const service of ['api', 'worker'])
    for (const minutes of [5, -5]) {
      const direction = minutes > 0 ? 'ahead' : 'behind'
      const act = () => withWrongClock(installed, service, minutes * 60)
      faults.push(injection(`clock ${direction} in ${service}`, service, act, staying))
    }
  return faults
}

/** What podman's unit of systemd does when the machine stops and starts. */
async function restartEngine({ engine }: Installation): Promise<void> {
  await engine.podman(['stop', '--all', '--time', '60'], { timeoutMs: 300_000 })
  // A machine that starts has all ports free; here the engine gives them back some time after a container has stopped.
  for (let left = 10; ; left--) {
    const start = engine.podman(['start', '--all', '--filter', 'restart-policy=unless-stopped'], { timeoutMs: 300_000 })
    const problem = await start.then(() => undefined, String)
    if (problem === undefined) return
    if (left === 0 || !problem.includes('address already in use')) throw new Error(problem)
    await pause(3_000)
  }
}

/** Starts the container anew with libfaketime of Debian in all of its processes, for a minute and a half. */
async function withWrongClock(
  { engine, compose, folder, ...installed }: Installation,
  service: string,
  seconds: number,
) {
  const kept = path.join(engine.folder, 'faketime')
  await mkdir(kept, { recursive: true })
  const library = 'usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'
  await run('sh', ['-euc', 'ls *.deb >/dev/null 2>&1 || apt-get download -qq libfaketime; dpkg-deb -x *.deb .'], {
    cwd: kept,
    timeoutMs: 120_000,
  })
  const set = { LD_PRELOAD: '/faketime.so', FAKETIME: `${seconds > 0 ? '+' : ''}${seconds}`, DONT_FAKE_MONOTONIC: '1' }
  const override = {
    services: {
      [service]: { environment: set, volumes: [`${path.join(kept, library)}:/faketime.so:ro`] },
    },
  }
  // JSON is YAML.
  await writeFile(path.join(folder, 'clock.yml'), JSON.stringify(override))
  const up = ['up', '--detach', '--no-build', '--no-deps', '--force-recreate', service]
  await compose('--file', 'clock.yml', ...up)
  await installed.untilHealthy(installed.container(service))
  await pause(90_000)
  await compose(...up)
}
