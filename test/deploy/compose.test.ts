import { existsSync } from 'node:fs'
import { copyFile, cp, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { queues } from '../../domain/contracts/workflow-contract.ts'
import { loadSettings } from '../../infra/config.ts'
import { settingsIn } from '../../infra/settings/schema.ts'
import { goProgram } from './go-program.ts'
import { runProgram } from './run-program.ts'

const repository = path.join(import.meta.dirname, '../..')

interface Service {
  image: string
  read_only?: boolean
  cap_drop?: string[]
  logging?: { options?: Record<string, string> }
  deploy?: { resources?: { limits?: { cpus?: string | number; memory?: string } } }
  healthcheck?: object
  restart?: string
  ports?: { host_ip?: string; published?: string }[]
  environment?: Record<string, string>
  secrets?: { source: string }[]
  stop_grace_period?: string
  depends_on?: Record<string, { condition: string }>
  profiles?: string[]
  volumes?: { type: string; source: string; read_only?: boolean }[]
}

interface Model {
  services: Record<string, Service>
  secrets: Record<string, { file: string }>
  networks: Record<string, { internal?: boolean } | null>
  configs?: object
}

/** The compose file as the reference implementation of the Compose Specification reads it. */
const composeSpecProgram = {
  module: 'github.com/compose-spec/compose-go/v2',
  version: '2.16.2',
  sum: 'h1:pTp1DqQwJzFd85GzlWsSszKA1ABrV/ySqsClujIcWA8=',
  folder: './cmd',
}

/** Over docker-compose.yml, the shape `cluster`. */
const cluster = 'docker-compose.cluster.yml'

describe('docker-compose.yml', () => {
  let folder: string
  let composeSpec: string
  let model: Model
  beforeAll(async () => {
    composeSpec = await goProgram('compose-spec', composeSpecProgram)
    folder = await mkdtemp(path.join(tmpdir(), 'compose-'))
    for (const name of ['docker-compose.yml', cluster])
      await copyFile(path.join(repository, name), path.join(folder, name))
    await cp(path.join(repository, 'deploy'), path.join(folder, 'deploy'), { recursive: true })
    await runProgram('deploy/compose/make-secrets.sh', [], { cwd: folder })
    model = await load()
  }, 300_000)
  afterAll(() => rm(folder, { recursive: true, force: true }))

  const load = async (...options: string[]): Promise<Model> => {
    const further = options.filter((option) => option.endsWith('.yml'))
    const flags = options.filter((option) => !option.endsWith('.yml'))
    const args = ['-format', 'json', ...flags, 'docker-compose.yml', ...further]
    const read: Model = JSON.parse(await runProgram(composeSpec, args, { cwd: folder }))
    // Where files were merged, it is a list.
    for (const service of Object.values(read.services))
      if (Array.isArray(service.environment)) service.environment = Object.fromEntries(service.environment.map(pairOf))
    return read
  }
  const pairOf = (line: string) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]
  /** As the compose file writes a variable with a default. */
  const variable = (name: string, fallback: string) => `$` + `{${name}:-${fallback}}`
  const services = () => Object.entries(model.services)
  const stays = ({ restart, profiles }: Service) => restart === 'unless-stopped' && profiles === undefined

  it('is valid by the Compose Specification, and the check finds invalid files', async () => {
    expect(services().length).toBeGreaterThan(8)
    const text = await readFile(path.join(folder, 'docker-compose.yml'), 'utf8')
    await writeFile(path.join(folder, 'wrong.yml'), text.replace('shm_size:', 'shared_memory:'))
    await expect(runProgram(composeSpec, ['wrong.yml'], { cwd: folder })).rejects.toThrow(/shared_memory/)
  })

  it('pins images, limits resources and capabilities of each container, and rotates logs', () => {
    for (const [name, service] of services()) {
      const { limits } = service.deploy?.resources ?? {}
      expect({
        name,
        image: /:v?\d+\.\d+(?:\.\d+)?(?:-[a-z]+)?$/.test(service.image),
        cpus: limits?.cpus !== undefined,
        memory: limits?.memory !== undefined,
        cap_drop: service.cap_drop,
        read_only: service.read_only,
        logs: service.logging?.options?.['max-size'],
      }).toEqual({
        name,
        image: true,
        cpus: true,
        memory: true,
        cap_drop: ['ALL'],
        read_only: name !== 'temporal-ui',
        logs: '10m',
      })
    }
  })

  it('has a health check for each service that keeps running; for API and worker it is in the image', async () => {
    const withoutOne = services().filter(([, service]) => stays(service) && !service.healthcheck)
    expect(withoutOne.map(([name]) => name).toSorted()).toEqual(['api', 'worker'])
    expect(await readFile(path.join(repository, 'Dockerfile'), 'utf8')).toContain('\nHEALTHCHECK ')
  })

  it('publishes ports on 127.0.0.1 only', () => {
    for (const [name, { ports = [] }] of services())
      for (const port of ports) expect({ name, ...port }).toMatchObject({ host_ip: '127.0.0.1' })
    expect(model.networks['data']).toMatchObject({ internal: true })
  })

  it('mounts its files, so that containers with a read-only root can be made', () => {
    // Compose 2.33 and newer: "cannot create config in read-only service"; before, the engine refused it.
    expect(model.configs).toBeUndefined()
    const mounts = services().flatMap(([, { volumes = [] }]) => volumes.filter(({ type }) => type === 'bind'))
    expect(mounts).toHaveLength(3)
    for (const mount of mounts) {
      expect(mount).toMatchObject({ read_only: true })
      expect(existsSync(mount.source)).toBe(true)
    }
  })

  it('serves every task queue', () => {
    expect(model.services['worker']?.environment?.['WORKER_QUEUES']?.split(',')).toEqual([...queues])
  })

  it('passes every secret as a file that the script creates, and never overwrites one', async () => {
    const made = await readdir(path.join(folder, 'secrets'))
    const files = [model, await load(cluster)].flatMap(({ secrets }) => Object.values(secrets).map(({ file }) => file))
    expect([...new Set(files.map((file) => path.basename(file)))].toSorted()).toEqual(made.toSorted())
    for (const [, service] of services()) {
      const mounted = (service.secrets ?? []).map(({ source }) => source)
      for (const secret of mounted) expect(made).toContain(secret)
      const files = Object.entries(service.environment ?? {}).filter(([variable]) => variable.endsWith('_FILE'))
      for (const [, value] of files) expect(mounted).toContain(path.basename(value))
    }
    const before = await readFile(path.join(folder, 'secrets/jwt_secret'), 'utf8')
    expect(await runProgram('deploy/compose/make-secrets.sh', [], { cwd: folder })).toBe('')
    expect(await readFile(path.join(folder, 'secrets/jwt_secret'), 'utf8')).toBe(before)
    expect((await stat(path.join(folder, 'secrets'))).mode & 0o777).toBe(0o700)
  })

  it('sets settings that exist and that the service accepts in production', () => {
    const names = settingsIn().map(({ env }) => env)
    for (const name of ['api', 'worker']) {
      const set = Object.keys(model.services[name]?.environment ?? {}).map((variable) => variable.replace(/_FILE$/, ''))
      expect(set.filter((variable) => !names.includes(variable))).toEqual([])
      const environment = Object.entries(model.services[name]?.environment ?? {}).map(([variable, value]) => [
        variable,
        value.replace(/^\/run\//, `${folder}/`),
      ])
      const settings = loadSettings(Object.fromEntries(environment))
      expect(settings.warnings).toEqual([])
      expect(settings.mongodbUri).toMatch(/^mongodb:\/\/assistants:[0-9a-f]{48}@mongo:27017\//)
      expect(settings.temporalCodecKey).toHaveLength(32)
      expect(settings.trustProxy).toEqual(['uniquelocal'])
    }
  })

  it('lets .env override its addresses, and derives the stop time from one setting', async () => {
    // `docker compose` takes the variables of the file .env for the file's own, too.
    const { services: written } = await load('-no-interpolation')
    for (const name of ['api', 'worker']) {
      expect(written[name]).toMatchObject({
        stop_grace_period: `1m${variable('SHUTDOWN_GRACE_SECONDS', '30')}s`,
        environment: {
          TEMPORAL_ADDRESS: variable('TEMPORAL_ADDRESS', 'temporal:7233'),
          SHUTDOWN_GRACE_SECONDS: variable('SHUTDOWN_GRACE_SECONDS', '30'),
        },
      })
      const { environment } = model.services[name] ?? {}
      // As the container sees it: what the file .env says, and over it what the compose file says.
      const seen = Object.entries({ MONGODB_URI: 'mongodb://elsewhere/db', REDIS_URL: '', ...environment }).map(
        ([variable, value]) => [variable, value.replace(/^\/run\//, `${folder}/`)],
      )
      const settings = loadSettings(Object.fromEntries(seen))
      expect(settings.mongodbUri).toBe('mongodb://elsewhere/db')
      expect(settings.redisUrl).toMatch(/^redis:\/\/:[0-9a-f]{48}@redis:6379$/)
    }
  })

  it('is a cluster with the second file: two API containers, three workers, six nodes of Redis, a bucket', async () => {
    const { services: all, networks } = await load(cluster)
    expect(Object.keys(all).filter((name) => name.startsWith('redis'))).toHaveLength(7)
    const workers = ['worker', 'worker-documents'].map((name) => all[name])
    expect(all['api']).toMatchObject({ deploy: { replicas: 2 } })
    expect(all['worker']).toMatchObject({ deploy: { replicas: 2 } })
    const served = workers.flatMap((worker) => worker?.environment?.['WORKER_QUEUES']?.split(',') ?? [])
    expect(served.toSorted()).toEqual([...queues].toSorted())
    for (const name of ['api', 'worker', 'worker-documents']) {
      const environment = Object.entries(all[name]?.environment ?? {}).map(([variable, value]) => [
        variable,
        value
          .replace('/run/secrets/redis_url', `${folder}/secrets/redis_cluster_url`)
          .replace(/^\/run\//, `${folder}/`),
      ])
      const settings = loadSettings(Object.fromEntries(environment))
      expect({ name, warnings: settings.warnings }).toEqual({ name, warnings: [] })
      expect(settings.redisUrl).toMatch(/^redis\+cluster:/)
      expect(Object.keys(all[name]?.depends_on ?? {})).toEqual(expect.arrayContaining(['redis-cluster', 'objects']))
    }
    for (const [name, { cap_drop, read_only, deploy }] of Object.entries(all)) {
      expect({ name, cap_drop, limited: deploy?.resources?.limits?.memory !== undefined }).toEqual({
        name,
        cap_drop: ['ALL'],
        limited: true,
      })
      expect(read_only).toBe(name !== 'temporal-ui')
    }
    expect(networks['data']).toMatchObject({ internal: true })
  })
})
