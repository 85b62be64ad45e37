import { cp, mkdir, readFile, realpath, rm } from 'node:fs/promises'
import path from 'node:path'
import { readComposeFile, versionOfImage } from '../../faults/production-drill/compose-file.ts'
import { prepareTemporalServer } from '../../faults/production-drill/programs.ts'
import { requirementsOf, supportedVersions } from '../../local/embedded-database/index.ts'
import { installInCache, cached } from '../../local/services/cache.ts'
import { prepareCaddy } from '../../local/services/caddy.ts'
import { findOnPath, run } from '../../local/services/command.ts'
import { goInstall, goModule } from '../../local/services/go-install.ts'
import { prepareObjectStore } from '../../local/services/object-store.ts'
import { prepareTemporal } from '../../local/services/temporal.ts'
import type { Engine } from './engine.ts'

const root = path.join(import.meta.dirname, '../..')
const files = path.join(import.meta.dirname, 'files')
type Say = (line: string) => void

/** The stage of the Containerfile that stands in for a service's image. */
const stageOf: Record<string, string> = {
  proxy: 'proxy',
  mongo: 'mongo',
  redis: 'redis',
  postgresql: 'postgresql',
  'temporal-schema': 'temporal-tools',
  temporal: 'temporal',
  'temporal-ui': 'temporal-ui',
}
/** Of docker-compose.cluster.yml, in the version that local/services/object-store.ts builds. */
const objectStore = 'versity/versitygw:v1.8.0'
/** As podman reads `assistant-platform:1.0.0` in docker-compose.yml when it is there. */
export const imageOfService = 'localhost/assistant-platform:1.0.0'
const uiSum = 'h1:OFbEpfCdSEEFYe7YdVZPTk3l4idT8ReStB6F788iiP0='

/** Makes what docker-compose.yml and the Dockerfile take from a registry; says what each stands in for. */
export async function makeBaseImages(engine: Engine, say: Say): Promise<string[]> {
  const compose = await readComposeFile()
  const wanted = new Map<string, string>()
  for (const [service, stage] of Object.entries(stageOf)) {
    const image = compose.services[service]?.image
    if (image === undefined) throw new Error(`docker-compose.yml has no image of ${service}`)
    wanted.set(image, stage)
  }
  wanted.set(objectStore, 'objects')
  for (const line of (await readFile(path.join(root, 'Dockerfile'), 'utf8')).split('\n')) {
    const base = /^FROM ((node|python):\S+)/.exec(line)
    if (base?.[1] !== undefined && base[2] !== undefined) wanted.set(base[1], base[2])
  }
  const tagOf = (image: string) => `docker.io/${image.includes('/') ? image : `library/${image}`}`
  const missing = []
  for (const [image, stage] of wanted)
    if (!(await exists(engine, tagOf(image)))) missing.push([tagOf(image), stage] as const)
  if (missing.length > 0) {
    await makeBase(engine, say)
    const context = path.join(engine.folder, 'context')
    await makeContext(context, compose, say)
    for (const [tag, stage] of missing) {
      say(`building the stand-in for ${tag}`)
      const containerfile = path.join(import.meta.dirname, 'Containerfile')
      const build = ['build', '--layers=false', '--isolation', 'chroot', '--network', 'host', '--target', stage]
      await engine.podman([...build, '--file', containerfile, '--tag', tag, context], { timeoutMs: 600_000 })
    }
    await rm(context, { recursive: true, force: true })
  }
  const lines = []
  for (const image of wanted.keys()) {
    const label = ['image', 'inspect', '--format', '{{index .Labels "stands-in"}}', tagOf(image)]
    lines.push(`${image}: ${(await engine.podman(label)).trim()}`)
  }
  return lines
}

/** The image of the service, by the Dockerfile in `folder`, under the name that docker-compose.yml has for it. */
export function buildImage(engine: Engine, folder: string): Promise<string> {
  const build = ['build', '--layers=false', '--isolation', 'chroot', '--network', 'host', '--format', 'docker']
  return engine.podman([...build, '--tag', imageOfService, folder], { timeoutMs: 1_200_000 })
}

const exists = (engine: Engine, image: string) =>
  engine.podman(['image', 'exists', image]).then(
    () => true,
    () => false,
  )

/** Debian with the servers that it has, once for all images. */
async function makeBase(engine: Engine, say: Say): Promise<void> {
  if (await exists(engine, 'localhost/debian:bookworm')) return
  if (!(await exists(engine, 'localhost/debian-root'))) await importRoot(engine, say)
  const build = ['build', '--layers=false', '--isolation', 'chroot', '--network', 'host']
  const containerfile = path.join(files, 'base.Containerfile')
  const context = path.join(engine.folder, 'base')
  await mkdir(context, { recursive: true })
  await cp('/etc/ssl/certs/ca-certificates.crt', path.join(context, 'ca-certificates.crt'))
  await engine.podman([...build, '--file', containerfile, '--tag', 'localhost/debian:bookworm', context], {
    timeoutMs: 900_000,
  })
}

async function importRoot(engine: Engine, say: Say): Promise<void> {
  const folder = path.join(engine.folder, 'debian')
  say('making a root of Debian')
  await rm(folder, { recursive: true, force: true })
  await run('debootstrap', ['--variant=minbase', '--include=ca-certificates', 'bookworm', folder], {
    timeoutMs: 900_000,
  })
  const tar = `${folder}.tar`
  await run('tar', ['-C', folder, '-cf', tar, '.'], { timeoutMs: 300_000 })
  await engine.podman(['import', tar, 'localhost/debian-root'], { timeoutMs: 300_000 })
  await Promise.all([folder, tar].map((one) => rm(one, { recursive: true, force: true })))
}

/** The programs, beside the scripts of `files`. */
async function makeContext(to: string, compose: Awaited<ReturnType<typeof readComposeFile>>, say: Say): Promise<void> {
  await rm(to, { recursive: true, force: true })
  await mkdir(to, { recursive: true })
  await cp(files, to, { recursive: true })
  const put = (from: string, name: string) => run('cp', ['-rL', from, path.join(to, name)])
  await put(process.execPath, 'node')
  // On PATH is a link to bin/npm-cli.js in its package.
  await put(path.join(await realpath((await findOnPath('npm')) ?? ''), '../..'), 'npm')
  await put(await prepareCaddy(versionOfImage(compose, 'proxy'), say), 'caddy')
  const server = await prepareTemporalServer(versionOfImage(compose, 'temporal'), say)
  await put(path.join(server.folder, 'server'), 'temporal-server')
  await put(path.join(server.folder, 'sql'), 'temporal-sql-tool')
  await put(server.schema, 'schema')
  await put((await prepareTemporal(say)).value, 'temporal')
  await put((await prepareObjectStore(say)).value, 'versitygw')
  const ui = await prepareUi(versionOfImage(compose, 'temporal-ui'), say)
  await put(path.join(ui, 'server'), 'ui-server')
  await put(path.join(ui, 'config'), 'ui-config')
  await put(path.join(root, 'local/embedded-database'), 'database')
  const version = String((await supportedVersions()).at(-1))
  await put(requirementsOf(version), 'database/requirements.txt')
  await run('chmod', ['-R', 'u+w,a+rX', to])
}

async function prepareUi(version: string, say: Say): Promise<string> {
  const name = `temporal-ui-${version}`
  const module = { module: 'github.com/temporalio/ui-server/v2', version, sum: uiSum }
  return (
    cached(name) ??
    (await installInCache(name, say, async (folder) => {
      await goInstall({ ...module, folder: './cmd/server' }, folder, say)
      await cp(path.join(await goModule(module), 'config'), path.join(folder, 'config'), { recursive: true })
    }))
  )
}
