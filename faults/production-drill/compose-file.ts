import { readFile } from 'node:fs/promises'
import path from 'node:path'
import Type from 'typebox'
import Value from 'typebox/value'
import { parse } from 'yaml'
import { root } from '../../scripts/process-bundle.ts'

const Service = Type.Object({
  image: Type.String(),
  command: Type.Optional(Type.Array(Type.String())),
  entrypoint: Type.Optional(Type.Array(Type.String())),
  environment: Type.Optional(Type.Record(Type.String(), Type.String())),
  profiles: Type.Optional(Type.Array(Type.String())),
  volumes: Type.Optional(Type.Array(Type.String())),
})
const ComposeFile = Type.Object({
  services: Type.Record(Type.String(), Service),
  secrets: Type.Record(Type.String(), Type.Object({ file: Type.String() })),
})

export type ComposeService = Type.Static<typeof Service>
export type ComposeFile = Type.Static<typeof ComposeFile>

/** What the drill starts, by the names of the compose file. */
const startedServices = [
  ['postgresql', 'temporal-schema', 'temporal', 'temporal-namespace', 'redis', 'mongo'],
  ['migrate', 'api', 'worker', 'proxy'],
].flat()

/** What it does not start, and why. */
const servicesLeftOut: Record<string, string> = {
  'temporal-ui': 'a page for people; the service does not use it',
  mail: 'for trials; the drill has a mail receiver of its own',
  qdrant: 'only with VECTOR_STORE=qdrant',
}

/** The project's own `docker-compose.yml`; `variables` take the place of those in `.env`. */
export async function readComposeFile(variables: Record<string, string> = {}): Promise<ComposeFile> {
  const text = await readFile(path.join(root, 'docker-compose.yml'), 'utf8')
  const file: unknown = parse(interpolate(text, variables), { schema: 'failsafe', merge: true })
  if (!Value.Check(ComposeFile, file)) throw new Error('docker-compose.yml has another shape than the drill reads')
  const unknown = Object.keys(file.services).filter(
    (name) => !startedServices.includes(name) && servicesLeftOut[name] === undefined,
  )
  if (unknown.length > 0)
    throw new Error(`the drill does not know what docker-compose.yml starts: ${unknown.join(', ')}`)
  const missing = startedServices.filter((name) => file.services[name] === undefined)
  if (missing.length > 0) throw new Error(`docker-compose.yml no longer starts ${missing.join(', ')}`)
  return file
}

/** `${NAME:-default}` and `$$` of the Compose Specification (12, Interpolation), as far as the file uses them. */
function interpolate(text: string, variables: Record<string, string>): string {
  return text.replaceAll(/\$\$|\$\{([A-Z_]+):-([^}]*)\}/g, (match, name?: string, fallback?: string) =>
    name === undefined ? '$' : (variables[name] ?? fallback ?? match),
  )
}

/** The version that a service's image is tagged with: 2.11.9 of `caddy:2.11.9-alpine`. */
export function versionOfImage({ services }: ComposeFile, name: string): string {
  const version = /:(\d+\.\d+\.\d+)/.exec(services[name]?.image ?? '')?.[1]
  if (version === undefined) throw new Error(`docker-compose.yml names no version for ${name}`)
  return version
}

/** The project's file that is mounted in a service's container under this path. */
export function mountedFile({ services }: ComposeFile, name: string, target: string): string {
  const mount = services[name]?.volumes?.map((volume) => volume.split(':')).find(([, inside]) => inside === target)
  if (mount?.[0]?.startsWith('./') !== true) throw new Error(`docker-compose.yml mounts no ${target} in ${name}`)
  return path.join(root, mount[0])
}

/**
 * The script of a service whose entry point is a shell, with the drill's addresses and folders in place of those of
 * containers.
 */
export function scriptOf({ entrypoint = [], command = [] }: ComposeService, replaced: Record<string, string>): string {
  const [script] = command
  if (!entrypoint[0]?.endsWith('sh') || script === undefined) throw new Error('the service is not started by a shell')
  return Object.entries(replaced).reduce((words, [from, to]) => words.replaceAll(from, to), script)
}
