import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  archive,
  birds,
  inEntries,
  objectFileOf,
  placesOf,
  readWithKey,
  threadOf,
  valuesOf,
} from '../../support/archived-threads.ts'
import { startTestObjectStore } from '../../support/object-store.ts'
import { runScript } from '../../support/run-script.ts'
import { type TestService, startService } from '../../support/service.ts'
import { insertUser } from '../../support/users.ts'

let store: Awaited<ReturnType<typeof startTestObjectStore>>
let service: TestService
beforeAll(async () => {
  store = await startTestObjectStore()
  service = await startService({ worker: false, env: { ...store.envOf('plain'), BLOBS_WRITE_TO: 'database' } })
})
afterAll(async () => {
  await service.close()
  await store.close()
})

it('scripts move archived threads to a bucket, seal them again there, and bring them back', async () => {
  const user = await insertUser(service)
  const id = await threadOf(user)
  await archive(service, id)
  const before = await objectFileOf(service, id)
  expect(before).not.toBeNull()
  await runScript('scripts/move-blobs.ts', service.env, { args: ['--to', 's3'] })
  const chunks = service.api.infra.database.connection.collection('blobs.chunks')
  expect(await chunks.countDocuments({ files_id: before?._id })).toBe(0)
  const oldKey = service.settings.secretsKey
  for (const bird of birds) expect(await readWithKey(service, oldKey, id)).toContain(bird)

  // A new key, while the objects are in the bucket.
  const newKey = Buffer.alloc(32, 7)
  const withNewKey = { ...service.env, SECRETS_KEY: newKey.toString('base64') }
  const both = { ...withNewKey, SECRETS_KEY_PREVIOUS: oldKey.toString('base64'), BLOBS_WRITE_TO: 'objects' }
  expect((await runScript('scripts/reseal-secrets.ts', both)).said).toContain('1 archived threads')
  for (const bird of birds) expect(await readWithKey(service, newKey, id)).toContain(bird)
  expect((await runScript('scripts/open-archived-threads.ts', withNewKey)).said).toContain(
    '1 threads were brought back',
  )
  expect(await placesOf(service, id)).toEqual(inEntries)
  for (const bird of birds) expect(await valuesOf(user, id)).toContain(bird)
})
