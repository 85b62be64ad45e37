import { describe, expect, it } from 'vitest'
import { newPublicAssistant } from '../public/public-assistant.ts'
import { apiClient } from '../support/api-client.ts'
import { useSharedService } from '../support/shared-service.ts'
import { refusalOf, v1Client } from '../v1/v1-client.ts'

const kilobyte = 1024
const long = 'x'.repeat(400 * kilobyte)
const picture = Buffer.concat([
  Buffer.from('R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=', 'base64'),
  Buffer.alloc(700 * kilobyte),
])

describe('answers that are kept without a place of the thread quota', () => {
  const service = useSharedService({ respond: () => ({ text: 'Noted.' }) })
  const limitTo = (userId: string, megabytes: number) =>
    service.collections.users.updateOne({ _id: userId }, { $set: { storage_max_mb: megabytes } })

  it('count in the storage quota: stored completions and responses', async () => {
    const { client, owner } = await v1Client(service)
    await limitTo(owner.userId, 1)
    const model = 'test-model'
    const kept = () =>
      client.chat.completions.create({ model, store: true, messages: [{ role: 'user', content: long }] })
    await kept()
    await client.responses.create({ model, input: long })
    expect((await refusalOf(kept())).status).toBe(413)
    expect((await refusalOf(client.responses.create({ model, input: long }))).status).toBe(413)
    // What is not kept needs no room.
    const passing = await client.chat.completions.create({ model, messages: [{ role: 'user', content: long }] })
    expect(passing.choices[0]?.message.content).toBe('Noted.')
    const { storage_bytes: bytes } = await owner.get('/user/usage')
    expect(bytes).toBeGreaterThan(2 * long.length)
    expect(bytes).toBeLessThan(2.2 * long.length)
  })

  it('count images of messages, too', async () => {
    const { client, owner } = await v1Client(service)
    await limitTo(owner.userId, 1)
    const input = [
      {
        role: 'user' as const,
        content: [
          {
            type: 'input_image' as const,
            detail: 'auto' as const,
            image_url: `data:image/gif;base64,${picture.toString('base64')}`,
          },
        ],
      },
    ]
    await client.responses.create({ model: 'test-model', input })
    expect((await refusalOf(client.responses.create({ model: 'test-model', input }))).status).toBe(413)
    expect((await owner.get('/user/usage')).storage_bytes).toBeGreaterThan(picture.length)
  })

  it('of public callers are refused without a word about the account', async () => {
    const { owner, token } = await newPublicAssistant(service)
    const { user_id: userId } = await owner.get('/user/')
    await limitTo(String(userId), 0)
    const question = { model: 'any', messages: [{ role: 'user', content: 'Hi' }] }
    const refused = await apiClient(service.url, token).call('POST', '/public/v1/chat/completions', question)
    expect(refused.status).toBe(413)
    expect(refused.body.detail).toBe('This assistant can store nothing more at the moment.')
  })
})
