import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it, test, vi } from 'vitest'
import { embeddedArgs, supportedVersions } from '../../../local/embedded-database/index.ts'
import { nameOfMongo, prepareMongo, startMongo } from '../../../local/services/mongo/index.ts'

const packageFolder = path.join(import.meta.dirname, '../../../local/embedded-database')

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'assistant-launcher-'))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true, force: true })
})

/** A Python that finds this version of SecantusDB before any other. */
async function installed(version: string | undefined): Promise<void> {
  if (version !== undefined) {
    const info = path.join(folder, `secantusdb-${version}.dist-info`)
    await mkdir(info)
    await writeFile(path.join(info, 'METADATA'), `Metadata-Version: 2.1\nName: SecantusDB\nVersion: ${version}\n`)
  }
  vi.stubEnv('PYTHONPATH', folder)
}

it.each(['0.6.9', '0.7.0', '0.8.0'])(
  'SecantusDB %s is refused before it starts, with the versions that fit',
  async (version) => {
    await installed(version)
    const supported = (await supportedVersions()).join(', ')
    expect(supported).not.toBe('')
    const server = { kind: 'secantusdb', command: 'python3' } as const
    const failure: unknown = await startMongo({ server, dataDir: folder }).then(
      async (started) => started.stop(),
      (error: unknown) => error,
    )
    expect(String(failure)).toContain(`Installed is SecantusDB ${version}, but`)
    expect(String(failure)).toContain(`hold only for SecantusDB ${supported}. Install it in this environment:`)
    expect(await readdir(path.join(folder, 'secantusdb'))).toEqual([])
  },
)

it('a Python without SecantusDB is refused, too', async () => {
  await installed(undefined)
  const args = ['-S', ...embeddedArgs({ port: 1, home: folder })]
  const failure: unknown = await promisify(execFile)('python3', args).catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 1, stderr: expect.stringContaining('Installed is no SecantusDB, but') })
})

it('a mongod on PATH is used before the embedded database, and named with its version', async () => {
  const mongod = path.join(folder, 'mongod')
  await writeFile(mongod, '#!/bin/sh\necho "db version v8.0.32"\n')
  await chmod(mongod, 0o755)
  vi.stubEnv('PATH', `${folder}${path.delimiter}${process.env['PATH']}`)
  const found = await prepareMongo(() => undefined)
  expect(found).toEqual({ source: 'PATH', value: { kind: 'mongod', command: mongod } })
  expect(await nameOfMongo(found.value)).toBe('mongod 8.0.32')
})

it('the database of this machine is named with its version', async () => {
  const { value } = await prepareMongo(() => undefined)
  const names = { mongod: /^mongod \d+\.\d+\.\d+/, secantusdb: /^SecantusDB \d\S+ \(the embedded database\)$/ }
  expect(await nameOfMongo(value)).toMatch(names[value.kind])
})

test('the README names each repair under a test that exists', async () => {
  const modules = (await readdir(path.join(packageFolder, 'repairs'))).filter((name) => name.endsWith('.py'))
  const sources = await Promise.all(modules.map((name) => readFile(path.join(packageFolder, 'repairs', name), 'utf8')))
  const repairs = sources.flatMap((text) => [...text.matchAll(/^@repair\('([a-z-]+)'\)/gm)].map(([, name]) => name))
  const readme = await readFile(path.join(packageFolder, 'README.md'), 'utf8')
  const named = [...readme.matchAll(/^- `([a-z-]+)`: /gm)].map(([, name]) => name)
  expect(repairs.length).toBeGreaterThan(10)
  expect(new Set(named)).toEqual(new Set(repairs))
  expect(named).toHaveLength(repairs.length)
  const tests = await readdir(import.meta.dirname)
  const files = [...readme.matchAll(/^`([a-z]+)`:$/gm)].map(([, file]) => `${file}.test.ts`)
  expect(files.length).toBeGreaterThan(3)
  expect(tests).toEqual(expect.arrayContaining(files))
})
