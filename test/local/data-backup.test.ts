import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, statSync, watch } from 'node:fs'
import { appendFile, chmod, cp, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadData } from '../../local/data-backup/load.ts'
import { saveData } from '../../local/data-backup/save.ts'
import { serversHere } from '../../local/data-backup/servers.ts'
import { ensureSecrets } from '../../local/secrets.ts'
import { LocalServiceError } from '../../local/services/ways.ts'
import { plainEnv } from '../support/plain-env.ts'

const root = path.join(import.meta.dirname, '../..')

let home = ''
let dataDir = ''
let backup = ''
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'assistant-data-backup-'))
  dataDir = path.join(home, 'data')
  backup = path.join(home, 'backup')
  await fill('first')
})
afterEach(() => rm(home, { recursive: true, force: true }))

/** A data folder in which each file says whose it is. */
async function fill(owner: string): Promise<void> {
  for (const folder of ['secrets', 'redis/appendonlydir', 'lancedb/empty', 'logs'])
    await mkdir(path.join(dataDir, folder), { recursive: true })
  ensureSecrets(dataDir, {})
  for (let number = 0; number < 30; number++)
    await writeFile(path.join(dataDir, 'redis', `${number}.aof`), `${owner} `.repeat(number * 100))
  await writeFile(path.join(dataDir, 'logs', 'api.log'), owner)
}

function begin(command: 'backup' | 'restore', folder = backup, env: NodeJS.ProcessEnv = {}): ChildProcess {
  const given = { ...plainEnv(), DATA_DIR: dataDir, ...env }
  return spawn(process.execPath, [`local/${command}.ts`, folder], { cwd: root, env: given })
}

async function run(command: 'backup' | 'restore', folder = backup, env: NodeJS.ProcessEnv = {}) {
  const child = begin(command, folder, env)
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}

let here: ReturnType<typeof serversHere> | undefined

/** What the commands do, without a process of its own for each, and with servers that are looked for once. */
const options = () => {
  const log = () => {}
  return { dataDir, folder: backup, env: {}, log, findServers: () => (here ??= serversHere(log)) }
}
const save = () => saveData(options())
const load = () => loadData(options())

/** Ends a command by `kill -9` at its n-th change of names beside the data folder. */
async function killAt(change: number, command: 'backup' | 'restore'): Promise<void> {
  const child = begin(command)
  let seen = 0
  const watcher = watch(home, () => {
    seen += 1
    if (seen >= change) child.kill('SIGKILL')
  })
  await once(child, 'close')
  watcher.close()
}

/** Checksums of all files of a folder but logs, by name. */
async function contents(folder: string): Promise<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => statSync(path.join(folder, name)).isFile() && !/^logs|^in-use-by$|^backed-up-by$/.test(name),
  )
  const sums = names.map(async (name) => [name, digest(await readFile(path.join(folder, name)))] as const)
  return Object.fromEntries(await Promise.all(sums))
}
const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

it('restores what was saved, keeps the data from before, and lets only the owner read either', async () => {
  const first = await contents(dataDir)
  expect(await run('backup')).toMatchObject({ code: 0, output: expect.stringContaining('Saved 34 files') })
  await rm(dataDir, { recursive: true })
  await fill('second')
  const second = await contents(dataDir)

  const { code, output } = await run('restore')
  expect(code, output).toBe(0)
  expect(await contents(dataDir)).toEqual(first)
  expect(existsSync(path.join(dataDir, 'lancedb/empty'))).toBe(true)
  expect(readdirSync(dataDir)).not.toContain('in-use-by')
  const before = /from before is in (\S+);/.exec(output)?.[1] ?? ''
  expect(await contents(before)).toEqual(second)
  for (const folder of [backup, dataDir])
    for (const name of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]) {
      const found = statSync(path.join(folder, name))
      expect((found.mode & 0o777).toString(8), name).toBe(found.isDirectory() ? '700' : '600')
    }
  expect(readdirSync(home).toSorted()).toEqual(['backup', 'data', path.basename(before)].toSorted())
})

it('restores where there is no data folder, and leaves nothing beside it', async () => {
  const first = await contents(dataDir)
  await save()
  await rm(dataDir, { recursive: true })
  expect(await load()).toBeUndefined()
  expect(await contents(dataDir)).toEqual(first)
  expect(readdirSync(home).toSorted()).toEqual(['backup', 'data'])
})

describe('a backup is refused', () => {
  it('into a folder that is not empty, or inside the data folder, and without data', async () => {
    await mkdir(backup)
    await writeFile(path.join(backup, 'mine'), '')
    expect(await run('backup')).toEqual({ code: 1, output: expect.stringMatching(/^\S+ is not empty: [^\n]+\n$/) })
    expect((await run('backup', path.join(dataDir, 'backup'))).output).toContain('is inside the data folder')
    const elsewhere = { DATA_DIR: path.join(home, 'none') }
    expect((await run('backup', path.join(home, 'other'), elsewhere)).output).toContain('holds no data of npm start')
    expect(readdirSync(home).toSorted()).toEqual(['backup', 'data'])
  })

  it('of data that is elsewhere, with the settings that say so', async () => {
    const { code, output } = await run('backup', backup, { MONGODB_URI: 'mongodb://other', VECTOR_STORE: 'qdrant' })
    expect([code, output]).toEqual([1, expect.stringMatching(/^MONGODB_URI, VECTOR_STORE: set, so not all data/)])
  })

  it('of a link, whose target would not be in it', async () => {
    await symlink('/etc/hosts', path.join(dataDir, 'redis/link'))
    expect((await run('backup')).output).toContain('redis/link is neither a folder nor a file')
    expect(readdirSync(home)).toEqual(['data'])
  })
})

describe('a restore changes nothing', () => {
  let second: Record<string, string>
  beforeEach(async () => {
    await save()
    await writeFile(path.join(dataDir, 'redis/1.aof'), 'second')
    second = await contents(dataDir)
  })
  const refused = async (message: RegExp) => {
    const problem: unknown = await load().catch((error: unknown) => error)
    expect(problem).toBeInstanceOf(LocalServiceError)
    expect(String(problem)).toMatch(message)
    await nothingChanged()
  }
  const nothingChanged = async () => {
    expect(await contents(dataDir)).toEqual(second)
    expect(readdirSync(home).toSorted()).toEqual(['backup', 'data'])
  }
  /** Changes the manifest as somebody would who also mends its checksum. */
  const rewrite = async (change: (manifest: any) => void) => {
    const file = path.join(backup, 'manifest.json')
    const { manifest } = JSON.parse(await readFile(file, 'utf8'))
    change(manifest)
    const sha256 = digest(Buffer.from(JSON.stringify(manifest)))
    await writeFile(file, JSON.stringify({ manifest, sha256 }))
  }

  it('if a file of the backup is altered, longer, missing or too much', async () => {
    const file = path.join(backup, 'data/redis/7.aof')
    const content = await readFile(file)
    await writeFile(file, content.toString().replace('first', 'firsT'))
    await refused(/redis\/7\.aof was altered/)
    await appendFile(file, 'more')
    await refused(/redis\/7\.aof has \d+ bytes instead of 4200/)
    await rm(file)
    await refused(/redis\/7\.aof is missing/)
    await writeFile(file, content)
    await writeFile(path.join(backup, 'data/secrets/MORE'), '')
    await refused(/secrets\/MORE is not in its manifest/)
    await rm(path.join(backup, 'data/secrets/MORE'))
    await rm(path.join(backup, 'data/lancedb/empty'), { recursive: true })
    await refused(/lancedb\/empty is missing/)
  })

  it('if the manifest is missing, altered or of something else', async () => {
    const file = path.join(backup, 'manifest.json')
    const text = await readFile(file, 'utf8')
    await writeFile(file, text.replace('"npm start"', '"npm stArt"'))
    await refused(/is not of a backup of this version/)
    await writeFile(file, text.replace(/"schema_version": \d+/, '"schema_version": 1'))
    await refused(/manifest\.json was altered/)
    await writeFile(file, text.slice(0, 100))
    await refused(/was altered: it is not JSON/)
    await rm(file)
    await refused(/is not a backup, or not a complete one/)
  })

  it('if versions do not fit, or secrets of the environment are not set', async () => {
    await rewrite((manifest) => (manifest.schema_version += 1))
    await refused(/made by a newer version \(schema \d+; this one knows \d+\)\. Update/)
    await rewrite((manifest) => {
      manifest.schema_version -= 1
      manifest.servers.Temporal.version = [99, 0]
    })
    await refused(/files of temporal 99\.0, which the older \S+ here cannot read/)
    await rewrite((manifest) => {
      manifest.servers.Temporal.version = [1, 0]
      manifest.servers.MongoDB.kind = 'other'
    })
    await refused(/files of MongoDB as other, and npm start would use/)
    await rewrite((manifest) => {
      manifest.servers = {}
      manifest.secrets_elsewhere = ['SECRETS_KEY']
    })
    await refused(/made with SECRETS_KEY in the environment/)
  })

  it('while the data folder is in use', async () => {
    await writeFile(path.join(dataDir, 'in-use-by'), String(process.pid))
    expect(await run('restore')).toEqual({ code: 1, output: expect.stringMatching(/^[^\n]* is in use by process/) })
    await nothingChanged()
  })
})

describe('a kill -9', () => {
  it.each([1, 2, 3])(
    'at change %i of a backup leaves no backup that looks whole, and the next one works',
    async (n) => {
      const first = await contents(dataDir)
      await killAt(n, 'backup')
      // Whatever has the name of the backup is complete.
      if (!existsSync(backup)) await save()
      await rm(dataDir, { recursive: true })
      await load()
      expect(await contents(dataDir)).toEqual(first)
      if (n > 1) return
      expect(readdirSync(home).toSorted()).toEqual(['backup', 'data'])
    },
    90_000,
  )

  it.each([1, 2, 3, 4, 5, 6, 7])(
    'at change %i of a restore loses neither the old data nor the backup',
    async (n) => {
      const first = await contents(dataDir)
      await save()
      const saved = await contents(backup)
      await rm(dataDir, { recursive: true })
      await fill('second')
      const second = await contents(dataDir)

      await killAt(n, 'restore')
      expect(await contents(backup)).toEqual(saved)
      const kept = await Promise.all(
        readdirSync(home).flatMap((name) => (/^data($|\.before)/.test(name) ? contents(path.join(home, name)) : [])),
      )
      expect(kept).toContainEqual(second)
      await load()
      expect(await contents(dataDir)).toEqual(first)
      expect(readdirSync(home).filter((name) => !name.startsWith('data.before'))).toEqual(['backup', 'data'])
    },
    90_000,
  )

  it('between the two renames of a restore is mended by the next start', async () => {
    const first = await contents(dataDir)
    await rename(dataDir, `${dataDir}.before-restore`)
    await cp(`${dataDir}.before-restore`, `${dataDir}.restored`, { recursive: true })
    // A wrong setting ends the start after that.
    const env = { ...plainEnv(), DATA_DIR: dataDir, LOG_LEVEL: 'loud' }
    const child = spawn(process.execPath, ['local/npm-start.ts'], { cwd: root, env })
    expect(await once(child, 'exit')).toEqual([1, null])
    expect(await contents(dataDir)).toEqual(first)
  })
})

it('a backup of data that others may read is not readable for them', async () => {
  await chmod(dataDir, 0o755)
  await chmod(path.join(dataDir, 'redis/3.aof'), 0o644)
  await save()
  expect(statSync(path.join(backup, 'data/redis/3.aof')).mode & 0o777).toBe(0o600)
})
