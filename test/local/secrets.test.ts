import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { takeDataDir } from '../../local/data-dir.ts'
import { ensureSecrets, secretFile } from '../../local/secrets.ts'

let dataDir = ''
beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'assistant-secrets-'))
})
afterEach(() => rm(dataDir, { recursive: true, force: true }))

test('secrets are created once, each in a file that only its owner can read', async () => {
  const first = ensureSecrets(dataDir, {})
  expect(Object.keys(first).toSorted()).toEqual(['ADMIN_TOKEN', 'JWT_SECRET', 'SECRETS_KEY', 'TEMPORAL_CODEC_KEY'])
  expect(new Set(Object.values(first)).size).toBe(4)
  expect(Buffer.from(first.SECRETS_KEY ?? '', 'base64')).toHaveLength(32)
  expect(Buffer.from(first.TEMPORAL_CODEC_KEY ?? '', 'base64')).toHaveLength(32)
  for (const name of ['ADMIN_TOKEN', 'JWT_SECRET', 'SECRETS_KEY', 'TEMPORAL_CODEC_KEY'] as const) {
    const file = secretFile(dataDir, name)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await readFile(file, 'utf8')).trim()).toBe(first[name])
  }
  expect((await stat(path.join(dataDir, 'secrets'))).mode & 0o777).toBe(0o700)
  expect(ensureSecrets(dataDir, {})).toEqual(first)
})

test('a secret in the environment is not created', () => {
  const made = ensureSecrets(dataDir, { ADMIN_TOKEN: 'mine', JWT_SECRET: ' ' })
  expect(made).not.toHaveProperty('ADMIN_TOKEN')
  expect(made).toHaveProperty('JWT_SECRET')
})

test('an empty secret file is an error that names the file', async () => {
  ensureSecrets(dataDir, {})
  await writeFile(secretFile(dataDir, 'SECRETS_KEY'), '')
  expect(() => ensureSecrets(dataDir, {})).toThrow(secretFile(dataDir, 'SECRETS_KEY'))
})

test('a data folder is locked by one running process; the lock of a dead process is taken over', async () => {
  const mark = path.join(dataDir, 'in-use-by')
  await writeFile(mark, String(process.ppid))
  expect(() => takeDataDir(dataDir)).toThrow(`in use by process ${process.ppid}`)
  // Above the largest process id of any system.
  await writeFile(mark, '99999999')
  const giveBack = takeDataDir(dataDir)
  expect(await readFile(mark, 'utf8')).toBe(String(process.pid))
  giveBack()
  await expect(stat(mark)).rejects.toThrow('ENOENT')
})
