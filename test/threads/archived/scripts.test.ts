import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  archive,
  birds,
  inEntries,
  objectFileOf,
  placesOf,
  readWithKey,
  recordOf,
  threadOf,
  valuesOf,
} from '../../support/archived-threads.ts'
import { runScript } from '../../support/run-script.ts'
import { type TestService, startService } from '../../support/service.ts'
import { type TestUser, insertUser } from '../../support/users.ts'

const newKey = Buffer.alloc(32, 7)
const reseal = 'scripts/reseal-secrets.ts'
const open = 'scripts/open-archived-threads.ts'

describe('scripts on archived threads', () => {
  let service: TestService
  let user: TestUser
  let env: Record<string, string>
  beforeAll(async () => {
    service = await startService({ worker: false })
    user = await insertUser(service)
    const previous = service.settings.secretsKey.toString('base64')
    env = { ...service.env, SECRETS_KEY: newKey.toString('base64'), SECRETS_KEY_PREVIOUS: previous }
  })
  afterAll(() => service.close())

  const onlyNewKey = () => ({ ...service.env, SECRETS_KEY: newKey.toString('base64') })

  async function archived(): Promise<string> {
    const id = await threadOf(user)
    await archive(service, id)
    return id
  }

  it('seal them again under a new key, and open them with it alone', async () => {
    const [id, other, damaged] = [await archived(), await archived(), await archived()]
    const { archive: stored } = await recordOf(service, damaged)
    const pieces = service.api.infra.database.connection.collection('blobs.chunks')
    const isOfDamaged = { files_id: (await objectFileOf(service, damaged))?._id }
    const piece = await pieces.findOneAndDelete(isOfDamaged)

    // One that cannot be read is named, and the others follow.
    const first = await runScript(reseal, env, { exitCode: 1 })
    expect(first.said).toContain('2 archived threads were encrypted again')
    expect(first.problems).toContain(`thread ${damaged} stays as it is`)
    expect(await recordOf(service, damaged)).toMatchObject({ archive: stored })
    if (piece !== null) await pieces.insertOne(piece)
    expect((await runScript(reseal, env)).said).toContain('1 archived threads were encrypted again')
    expect((await runScript(reseal, env)).said).toContain('0 archived threads were encrypted again')

    for (const each of [id, other, damaged]) {
      expect(await placesOf(service, each)).toEqual({ emptied: birds.length, objects: 1, isNamed: true })
      for (const bird of birds) expect(await readWithKey(service, newKey, each)).toContain(bird)
      await expect(readWithKey(service, service.settings.secretsKey, each)).rejects.toThrow('missing or damaged')
    }
    // The process with the old key alone cannot open them, and says so.
    expect((await user.call('GET', `/threads/${id}/state`)).status).toBe(500)

    expect((await runScript(open, onlyNewKey())).said).toContain('3 threads were brought back')
    expect((await runScript(open, onlyNewKey())).said).toContain('0 threads were brought back')
    for (const each of [id, other, damaged]) {
      expect(await placesOf(service, each)).toEqual(inEntries)
      for (const bird of birds) expect(await valuesOf(user, each)).toContain(bird)
    }
  })
})
