import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { apiClient } from '../support/api-client.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import { startService } from '../support/service.ts'
import { useStarted } from '../support/use-started.ts'
import { insertUser } from '../support/users.ts'

const kilobyte = 1024

describe('the storage quota of a user', () => {
  const service = useStarted(() =>
    startService({
      worker: false,
      env: { STORAGE_MAX_MB: '1', OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' },
    }),
  )

  const file = (name: string, kilobytes: number) => ({ name, content: 'x'.repeat(kilobytes * kilobyte) })
  const bytesOf = async (userId: string) =>
    (await service.collections.files.find({ user_id: userId }).lean()).reduce((sum, { size }) => sum + size, 0)

  it('refuses an upload that would exceed it, and leaves nothing of it', async () => {
    const user = await knowledgeClient(await insertUser(service))
    expect((await user.upload([file('a.txt', 600)], '?wait=false')).status).toBe(200)
    const refused = await user.upload([file('b.txt', 100), file('c.txt', 700), file('e.txt', 500)], '?wait=false')
    expect(refused.status).toBe(413)
    expect(refused.body.detail).toContain('1 MB')
    const [stored] = (await user.list()).body.files
    expect((await user.list()).body.files).toHaveLength(1)
    expect(stored.name).toBe('a.txt')
    expect((await user.upload([file('d.txt', 300)], '?wait=false')).status).toBe(200)
  })

  it('counts the files of all assistants of the user, and of no other user', async () => {
    const owner = await insertUser(service)
    const [one, two] = [await knowledgeClient(owner), await knowledgeClient(owner)]
    const bystander = await knowledgeClient(await insertUser(service))
    expect((await one.upload([file('a.txt', 900)], '?wait=false')).status).toBe(200)
    expect((await two.upload([file('b.txt', 200)], '?wait=false')).status).toBe(413)
    expect((await bystander.upload([file('b.txt', 200)], '?wait=false')).status).toBe(200)
  })

  describe('set for one user', () => {
    const setMax = (userId: string, storage_max_mb: unknown) =>
      apiClient(service.url, service.env['ADMIN_TOKEN']).call('PUT', `/admin/users/${userId}/storage-max`, {
        storage_max_mb,
      })

    it('replaces the default until it is removed', async () => {
      const owner = await insertUser(service)
      const [user, bystander] = [await knowledgeClient(owner), await knowledgeClient(await insertUser(service))]
      const raised = await setMax(owner.userId, 2)
      expect(raised.body).toMatchObject({ storage_max_mb: 2, usage: { storage_max_mb: 2, storage_bytes: 0 } })
      expect((await user.upload([file('a.txt', 1500)], '?wait=false')).status).toBe(200)
      expect((await bystander.upload([file('a.txt', 1500)], '?wait=false')).status).toBe(413)
      expect(await owner.get('/user/usage')).toMatchObject({ storage_max_mb: 2, storage_bytes: 1500 * kilobyte })

      const refused = await user.upload([file('b.txt', 600)], '?wait=false')
      expect(refused.status).toBe(413)
      expect(refused.body.detail).toContain('2 MB')
      expect((await setMax(owner.userId, null)).body).toMatchObject({
        storage_max_mb: null,
        usage: { storage_max_mb: 1 },
      })
      expect((await user.upload([file('c.txt', 1)], '?wait=false')).status).toBe(413)
      // What is stored stays.
      expect((await user.list()).body.files).toHaveLength(1)
    })

    it('can be zero', async () => {
      const owner = await insertUser(service)
      await setMax(owner.userId, 0)
      expect((await (await knowledgeClient(owner)).upload([file('a.txt', 1)], '?wait=false')).status).toBe(413)
    })

    it('must be a whole number, for an existing user', async () => {
      const { userId } = await insertUser(service)
      for (const value of [-1, 1.5, '5', undefined]) expect((await setMax(userId, value)).status).toBe(422)
      expect((await setMax(newId(), 5)).status).toBe(404)
    })
  })

  it('is not exceeded by simultaneous uploads', async () => {
    const owner = await insertUser(service)
    const user = await knowledgeClient(owner)
    await Promise.all([1, 2, 3, 4].map((n) => user.upload([file(`${n}.txt`, 400)], '?wait=false')))
    expect(await bytesOf(owner.userId)).toBeLessThanOrEqual(1024 * kilobyte)
  })
})
