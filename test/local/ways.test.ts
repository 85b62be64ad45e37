import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { waysByCache } from '../../local/services/cache.ts'
import { run } from '../../local/services/command.ts'
import { downloadArchive } from '../../local/services/download.ts'
import { mongodArchives, mongodBuild } from '../../local/services/mongo/mongod.ts'
import { firstThatWorks } from '../../local/services/ways.ts'
import { startHttpServer } from '../support/http-server.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'assistant-ways-'))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true, force: true })
})

test('the first source that works is used, and later ones are not tried', async () => {
  const tried: string[] = []
  const way = (name: string, value: string | undefined) => ({
    name,
    attempt: async () => {
      tried.push(name)
      return value
    },
  })
  const found = await firstThatWorks('Thing', 'THING_URL', [
    way('PATH', undefined),
    way('cache', 'x'),
    way('build', 'y'),
  ])
  expect(found).toEqual({ value: 'x', source: 'cache' })
  expect(tried).toEqual(['PATH', 'cache'])
})

test('if none works, the message names the service, each source with its reason, and the variable', async () => {
  const refused = new Error('fetch failed', { cause: new Error('getaddrinfo ENOTFOUND example.org') })
  const attempt = firstThatWorks('Thing', 'THING_URL', [
    { name: 'PATH', attempt: async () => undefined },
    { name: 'official download', attempt: () => Promise.reject(refused) },
  ])
  await expect(attempt).rejects.toThrow(
    /Thing could not be found or installed[\s\S]*PATH: not there[\s\S]*official download: getaddrinfo ENOTFOUND example\.org[\s\S]*Set THING_URL/,
  )
})

test.each([
  ['darwin', 'arm64', '', 'osx/mongodb-macos-arm64'],
  ['linux', 'x64', 'ID=debian\nVERSION_ID="12"', 'linux/mongodb-linux-x86_64-debian12'],
  ['linux', 'arm64', 'ID=debian\nVERSION_ID="12"', 'linux/mongodb-linux-aarch64-ubuntu2204'],
  ['linux', 'x64', 'ID=ubuntu\nVERSION_ID="24.04"', 'linux/mongodb-linux-x86_64-ubuntu2404'],
  ['linux', 'x64', 'ID="rocky"\nID_LIKE="rhel centos fedora"\nVERSION_ID="9.3"', 'linux/mongodb-linux-x86_64-rhel93'],
  ['linux', 'arm64', 'ID=fedora\nVERSION_ID=42', 'linux/mongodb-linux-aarch64-rhel10'],
  ['linux', 'x64', 'ID=linuxmint\nID_LIKE="ubuntu debian"\nVERSION_ID="21"', 'linux/mongodb-linux-x86_64-ubuntu2204'],
  ['linux', 'x64', 'ID=alpine', undefined],
  ['win32', 'x64', '', undefined],
] as const)('the archive of MongoDB for %s %s %j', (platform, arch, osRelease, expected) => {
  expect(mongodBuild(platform, arch, osRelease)).toBe(expected)
  expect(mongodArchives[expected ?? ''] ?? 'none').toMatch(expected === undefined ? /none/ : /^[0-9a-f]{64}$/)
})

test('what is installed is called by how it really came, by all who look for it, and later', async () => {
  vi.stubEnv('ASSISTANT_CACHE_DIR', folder)
  let builds = 0
  const find = () =>
    firstThatWorks(
      'Thing',
      'THING_URL',
      waysByCache(
        'thing-1',
        () => {},
        (found) => path.join(found, 'thing'),
        [
          { name: 'official download', install: () => Promise.reject(new Error('not reachable')) },
          {
            name: 'built with Go',
            install: async (into) => {
              builds++
              await writeFile(path.join(into, 'thing'), '')
            },
          },
        ],
      ),
    )
  // The second waits in its first way, the download, for the first, which builds.
  const value = path.join(folder, 'thing-1/thing')
  const expected = { value, source: 'built with Go' }
  expect(await Promise.all([find(), find()])).toEqual([expected, expected])
  expect(builds).toBe(1)
  expect(await find()).toEqual({ value, source: 'built with Go, kept in the cache' })

  // As earlier versions have left it.
  await writeFile(path.join(folder, 'thing-1/.complete'), '')
  expect(await find()).toEqual({ value, source: 'cache' })
})

test('a download is unpacked only if it has its checksum', async () => {
  const source = path.join(folder, 'source')
  await mkdir(source)
  await writeFile(path.join(source, 'program'), 'it works')
  await run('tar', ['-czf', path.join(folder, 'it.tgz'), '-C', folder, 'source'])
  const archive = await readFile(path.join(folder, 'it.tgz'))
  const server = await startHttpServer((_request, response) => void response.end(archive))
  const into = path.join(folder, 'into')
  await mkdir(into)
  const download = (sha256: string | undefined) =>
    downloadArchive(`${server.url}/it.tgz`, into, { sha256, strip: 1, log: () => {} })
  try {
    await expect(download(undefined)).rejects.toThrow('no checksum is known of it.tgz')
    await expect(download('0'.repeat(64))).rejects.toThrow(/it\.tgz has the checksum [0-9a-f]{64} instead of 0000/)
    expect(existsSync(path.join(into, 'program'))).toBe(false)
    await download(createHash('sha256').update(archive).digest('hex'))
    expect(await readFile(path.join(into, 'program'), 'utf8')).toBe('it works')
  } finally {
    await server.close()
  }
})
