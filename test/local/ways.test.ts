import { expect, test } from 'vitest'
import { mongodBuild } from '../../local/services/mongo/mongod.ts'
import { firstThatWorks } from '../../local/services/ways.ts'

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
  ['linux', 'x64', 'ID="rocky"\nID_LIKE="rhel centos fedora"\nVERSION_ID="9.3"', 'linux/mongodb-linux-x86_64-rhel9'],
  ['linux', 'x64', 'ID=linuxmint\nID_LIKE="ubuntu debian"\nVERSION_ID="21"', 'linux/mongodb-linux-x86_64-ubuntu2204'],
  ['linux', 'x64', 'ID=alpine', undefined],
  ['win32', 'x64', '', undefined],
] as const)('the archive of MongoDB for %s %s %j', (platform, arch, osRelease, expected) => {
  expect(mongodBuild(platform, arch, osRelease)).toBe(expected)
})
