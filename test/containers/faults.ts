import { setTimeout as pause } from 'node:timers/promises'
import { run } from '../../local/services/command.ts'
import type { Engine } from './engine.ts'
import type { Installation } from './installation.ts'

type Act = () => Promise<unknown>

/** What networks and hosts do to a container; each is over when its promise is. */
export function faultsOf(
  engine: Engine,
  { project }: Installation,
  name: string,
  service: string,
): Record<string, Act> {
  const pid = async () => (await engine.podman(['inspect', '--format', '{{.State.Pid}}', name])).trim()
  return {
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
    'cut off': async () => {
      const format = '{{range $name, $_ := .NetworkSettings.Networks}}{{$name}} {{end}}'
      const networks = (await engine.podman(['inspect', '--format', format, name])).trim().split(' ')
      for (const network of networks) await engine.podman(['network', 'disconnect', network, name])
      await pause(5_000)
      for (const network of networks) await engine.podman(['network', 'connect', '--alias', service, network, name])
      if (!networks.every((network) => network.startsWith(project))) throw new Error(`${name} has other networks`)
    },
    slow: async () => {
      const inside = ['--target', await pid(), '--net', 'tc', 'qdisc']
      await run('nsenter', [...inside, 'add', 'dev', 'eth0', 'root', 'netem', 'delay', '200ms', 'loss', '5%'])
      await pause(5_000)
      await run('nsenter', [...inside, 'del', 'dev', 'eth0', 'root'])
    },
  }
}
