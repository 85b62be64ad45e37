import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { type AddressInfo, type Server, connect, createServer } from 'node:net'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import Type from 'typebox'
import Value from 'typebox/value'
import { parse } from 'yaml'
import { run } from '../../local/services/command.ts'
import type { Engine } from './engine.ts'

const root = path.join(import.meta.dirname, '../..')

const Service = Type.Object({
  depends_on: Type.Optional(Type.Record(Type.String(), Type.Object({ condition: Type.String() }))),
  profiles: Type.Optional(Type.Array(Type.String())),
})
const ComposeFile = Type.Object({ services: Type.Record(Type.String(), Service) })

export type Installation = Awaited<ReturnType<typeof install>>

/**
 * Starts docker-compose.yml as it is in `folder`, one service after the other in the order of `depends_on`. The engine's
 * podman neither waits for health nor asks for it by itself (it has no systemd here): the test asks each health check.
 */
export async function install(
  engine: Engine,
  options: { folder: string; project: string; env: Record<string, string>; say: (line: string) => void },
) {
  const { folder, project, env, say } = options
  await mkdir(folder, { recursive: true })
  for (const name of ['docker-compose.yml', 'deploy'])
    await cp(path.join(root, name), path.join(folder, name), { recursive: true })
  await run('deploy/compose/make-secrets.sh', [], { cwd: folder })
  const lines = Object.entries(env).map(([name, value]) => `${name}=${value}\n`)
  await writeFile(path.join(folder, '.env'), lines.join(''))

  const file: unknown = parse(await readFile(path.join(folder, 'docker-compose.yml'), 'utf8'), { merge: true })
  if (!Value.Check(ComposeFile, file)) throw new Error('docker-compose.yml has another shape than this reads')
  const { services } = file
  const container = (service: string, number = 1) => `${project}_${service}_${number}`
  const compose = (...args: string[]) => engine.compose(project, args, { cwd: folder })
  const state = async (name: string) => {
    const [status = '', code = ''] = (
      await engine.podman(['inspect', '--format', '{{.State.Status}} {{.State.ExitCode}}', name])
    )
      .trim()
      .split(' ')
    return { status, code: Number(code) }
  }
  const logs = (name: string) => engine.podman(['logs', '--tail', '15', name]).catch(String)

  async function untilHealthy(name: string, limitMs = 180_000): Promise<void> {
    for (const deadline = Date.now() + limitMs; ; await pause(1_000)) {
      const problem = await engine.podman(['healthcheck', 'run', name]).then(
        () => undefined,
        (error: unknown) => String(error),
      )
      if (problem === undefined) return
      if (Date.now() > deadline) throw new Error(`${name} is not healthy: ${problem}\n${await logs(name)}`)
    }
  }

  async function untilDone(name: string, limitMs = 180_000): Promise<void> {
    for (const deadline = Date.now() + limitMs; ; await pause(500)) {
      const { status, code } = await state(name)
      if (status === 'exited' && code === 0) return
      if (Date.now() > deadline) throw new Error(`${name} is ${status} (${code}):\n${await logs(name)}`)
    }
  }

  const started = new Set<string>()
  async function start(service: string): Promise<void> {
    if (started.has(service)) return
    started.add(service)
    const needs = services[service]?.depends_on ?? {}
    for (const name of Object.keys(needs)) await start(name)
    for (const [name, { condition }] of Object.entries(needs))
      await (condition === 'service_completed_successfully'
        ? untilDone(container(name))
        : untilHealthy(container(name)))
    say(`starting ${service}`)
    await compose('up', '--detach', '--no-build', '--no-deps', service)
  }

  const names = Object.keys(services).filter((name) => services[name]?.profiles === undefined)
  for (const name of names) await start(name)
  const staying = ['proxy', 'api', 'worker', 'mongo', 'redis', 'postgresql', 'temporal', 'temporal-ui']
  for (const name of staying) await untilHealthy(container(name))
  return { folder, project, names, staying, container, compose, state, logs, untilHealthy }
}

/** Makes a server of this machine reachable by containers, at `host.containers.internal`. */
export async function openToContainers(port: number): Promise<{ port: number; close: () => void }> {
  const server: Server = createServer((incoming) => {
    const outgoing = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      from.on('error', () => to.destroy())
      from.pipe(to)
    }
  })
  const listening = Promise.withResolvers<void>()
  server.listen(0, '0.0.0.0', listening.resolve)
  await listening.promise
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- A server that listens on a port has such an address.
  return { port: (server.address() as AddressInfo).port, close: () => server.close() }
}
