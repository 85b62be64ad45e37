// Before a change: docs/traps.md, What else changes with a change.
import { chmod, chown, cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../local/services/ports.ts'
import { startProcess } from '../support/processes.ts'
import { pdfOf, pngOf, scanOf } from '../support/scans.ts'
import { serviceEnv } from '../support/service.ts'
import { replayDockerfile } from './replay-dockerfile.ts'
import { runProgram } from './run-program.ts'

const repository = path.join(import.meta.dirname, '../..')
const corpus = path.join(repository, 'bench/corpus')

/** The steps of the Dockerfile, replayed in folders; its programs are then run as a user who owns none of the files. */
describe('the image', () => {
  const isRoot = process.getuid?.() === 0
  const owner = isRoot ? { uid: 12_345, gid: 12_345 } : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  const as = isRoot ? owner : {}
  let folder: string
  let image: Awaited<ReturnType<typeof replayDockerfile>>
  let app: string

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'image-'))
    await chmod(folder, 0o755)
    const ignored = (await readFile(path.join(repository, '.dockerignore'), 'utf8')).split('\n')
    image = await replayDockerfile(path.join(repository, 'Dockerfile'), {
      context: repository,
      folder,
      baseEnv: { PATH: `${path.dirname(process.execPath)}:${process.env['PATH']}`, HOME: process.env['HOME'] ?? '/' },
      isSent: (file) => [file, file.split('/')[0]].some((path) => ignored.includes(`!${path}`)),
      owner,
    })
    app = path.join(image.root, image.workdir)
  }, 900_000)
  afterAll(() => rm(folder, { recursive: true, force: true }))

  /** The environment of the image and of a service on the test servers, with encrypted payloads. */
  const environment = () => ({
    ...image.env,
    ...serviceEnv({ TEMPORAL_CODEC_KEY: Buffer.alloc(32, 7).toString('base64'), METRICS_PORT: '0' }),
    NODE_ENV: 'production',
    DATA_DIR: path.join(image.root, 'data'),
    HOME: '/nowhere',
  })

  it('runs API and worker as a user who can write only to /data, and reports its health', async () => {
    expect(image.user).toBe('node')
    expect(image.command).toEqual(['node', 'dist/api.mjs'])
    const env = environment()
    const port = { api: String(await freePort()), worker: String(await freePort()) }
    const migrated = await runProgram(process.execPath, ['dist/migrate.mjs'], {
      cwd: app,
      ...as,
      env: { ...env, LOG_LEVEL: 'info' },
    })
    expect(migrated).toContain('migrations done')
    const api = await startProcess('dist/api.mjs', { ...env, METRICS_PORT: port.api }, 'listening', {
      cwd: app,
      ...as,
    })
    const worker = await startProcess('dist/worker.mjs', { ...env, METRICS_PORT: port.worker }, 'worker ready', {
      cwd: app,
      ...as,
    })
    const [node = '', ...check] = image.healthcheck
    expect(node).toBe('node')
    const health = (metricsPort: string) =>
      runProgram(process.execPath, check, { cwd: app, ...as, env: { METRICS_PORT: metricsPort } })
    // The console was built, and is there without what built it.
    const page = await fetch(`${String(api.ready['address'])}/`)
    expect(page.headers.get('content-type')).toContain('text/html')
    await health(port.api)
    await health(port.worker)
    expect(await worker.stop()).toBe(0)
    await expect(health(port.worker)).rejects.toThrow(/ended with 1/)
    expect(await api.stop()).toBe(0)
    // Both bundles were there: nothing was built anew.
    expect(await readdir(path.join(app, 'node_modules/.cache/workflows'))).toHaveLength(2)
  })

  it('still reads office documents, PDF and pictures without the packages that were removed', async () => {
    const documents = path.join(image.root, 'data/documents')
    await cp(corpus, documents, { recursive: true })
    await writeFile(path.join(documents, 'scan.png'), pngOf(await scanOf(pdfOf(['The lantern of the mole.']))))
    if (isRoot) await chown(documents, owner.uid, owner.gid)
    const job = { name: '', maxTokens: 512, overlapTokens: 64, ocr: { languages: ['eng', 'deu'], maxPages: 1 } }
    const reader = `"${process.execPath}" "${path.join(app, 'dist/readers/main.mjs')}"`
    for (const [name, words] of [
      ['devils-dictionary.docx', 'abasement'],
      ['devils-dictionary.pdf', 'abasement'],
      ['scan.png', 'The lantern of the mole.'],
    ] as const) {
      const read = `cp ${name} file && echo '${JSON.stringify(job)}' | ${reader}`
      const said = await runProgram('sh', ['-c', read], { cwd: documents, ...as, env: { PATH: '/usr/bin:/bin' } })
      expect(said.toLowerCase()).toContain(words.toLowerCase())
      expect(said).toMatch(/\{"end":.*\}\n$/)
    }
  })

  it('has authorities of certificates, without which LanceDB reaches no bucket', async () => {
    expect(await readFile(path.join(image.root, 'etc/ssl/certs/ca-certificates.crt'), 'utf8')).toMatch(
      /-----BEGIN CERTIFICATE-----/,
    )
  })

  it('rotates keys with its scripts', async () => {
    const script = ['scripts/reseal-secrets.ts']
    const said = await runProgram(process.execPath, script, { cwd: app, ...as, env: environment() })
    expect(said).toContain('encrypted again')
  })

  it('contains half of the installed packages', async () => {
    const size = async (of: string) => Number((await runProgram('du', ['-sm', of])).split('\t')[0])
    expect(await size(path.join(app, 'node_modules'))).toBeLessThan(650)
  })
})
