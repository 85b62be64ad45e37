import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, type Server, connect, createServer } from 'node:net'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import tls from 'node:tls'
import Type, { type Static } from 'typebox'
import Value from 'typebox/value'
import { parse } from 'yaml'
import { run } from '../../local/services/command.ts'
import type { Engine } from './engine.ts'

const root = path.join(import.meta.dirname, '../..')

const Service = Type.Object({
  depends_on: Type.Optional(Type.Record(Type.String(), Type.Object({ condition: Type.String() }))),
  profiles: Type.Optional(Type.Array(Type.String())),
  extends: Type.Optional(Type.Object({ service: Type.String() })),
})
const ComposeFile = Type.Object({ services: Type.Record(Type.String(), Service) })

export type Installation = ReturnType<typeof installationIn>

/** The containers that stay, in the order in which they start. */
const staying = ['mongo', 'redis', 'postgresql', 'temporal', 'api', 'worker', 'proxy', 'temporal-ui']

/**
 * Starts docker-compose.yml as it is, one service after the other in the order of `depends_on`. The engine's podman
 * neither waits for health nor asks for it by itself (it has no systemd here): the test asks each health check.
 */
export async function install(
  engine: Engine,
  options: {
    project: string
    env: Record<string, string>
    say: (line: string) => void
    /** A second compose file over docker-compose.yml. */
    over?: string | undefined
  },
): Promise<Installation> {
  const { project, env, say, over } = options
  const files = ['docker-compose.yml', ...(over === undefined ? [] : [over])]
  const folder = path.join(engine.folder, project)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  for (const name of [...files, 'deploy']) await cp(path.join(root, name), path.join(folder, name), { recursive: true })
  await run('deploy/compose/make-secrets.sh', [], { cwd: folder })
  // The database that stands in has no users.
  const database = { MONGODB_URI: 'mongodb://mongo:27017/assistants?directConnection=true&retryWrites=false' }
  const lines = Object.entries({ ...database, ...env }).map(([name, value]) => `${name}=${value}\n`)
  await writeFile(path.join(folder, '.env'), lines.join(''))
  const installed = installationIn(engine, { folder, project, files })
  const { compose, container, untilDone, untilHealthy } = installed

  const services = await servicesIn(files.map((name) => path.join(folder, name)))
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
  for (const name of Object.keys(services)) if (services[name]?.profiles === undefined) await start(name)
  for (const name of staying) await untilHealthy(container(name))
  return installed
}

/** What the files say together of each service. */
async function servicesIn(files: string[]): Promise<Record<string, Static<typeof Service>>> {
  const all: Record<string, Static<typeof Service>> = {}
  for (const name of files) {
    const file: unknown = parse(await readFile(name, 'utf8'), { merge: true })
    if (!Value.Check(ComposeFile, file)) throw new Error(`${path.basename(name)} has another shape than this reads`)
    for (const [service, own] of Object.entries(file.services)) {
      const base = all[own.extends?.service ?? service] ?? {}
      all[service] = { ...base, ...own, depends_on: { ...base.depends_on, ...own.depends_on } }
    }
  }
  return all
}

/** The containers of a project, whose files are in `folder`. */
export function installationIn(
  engine: Engine,
  { folder, project, files = [] }: { folder: string; project: string; files?: string[] },
) {
  const container = (service: string, number = 1) => `${project}_${service}_${number}`
  const chosen = files.flatMap((file) => ['--file', file])
  const compose = (...args: string[]) => engine.compose(project, [...chosen, ...args], { cwd: folder })
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
    const format = '{{.State.Status}} {{.State.ExitCode}}'
    for (const deadline = Date.now() + limitMs; ; await pause(500)) {
      const state = (await engine.podman(['inspect', '--format', format, name])).trim()
      if (state === 'exited 0') return
      if (Date.now() > deadline) throw new Error(`${name} is ${state}:\n${await logs(name)}`)
    }
  }

  return {
    engine,
    folder,
    project,
    staying,
    container,
    compose,
    logs,
    untilHealthy,
    untilDone,
    /** Removes all containers, volumes and networks, and its folder. */
    async remove() {
      await engine.clear()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Makes this process trust the authority of the proxy; returns the file of its certificate. */
export async function trustProxyOf({ engine, container, folder }: Installation): Promise<string> {
  const file = '/data/caddy/pki/authorities/local/root.crt'
  const authority = await engine.podman(['exec', container('proxy'), 'cat', file])
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), authority])
  const kept = path.join(folder, 'authority.pem')
  await writeFile(kept, authority)
  return kept
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
