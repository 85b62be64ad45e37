import { expect, it } from 'vitest'
import { noteActivity } from '../../services/note-activity.ts'
import { newPublicAssistant } from '../public/public-assistant.ts'
import { readRun } from '../runs/support.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'

const service = useSharedService()
const longAgo = new Date('2020-01-01T00:00:00Z')

it('public use of an assistant counts as activity of its owner', async () => {
  const { users, assistants } = service.collections
  const open = await newPublicAssistant(service)
  const { user_id: ownerId = '' } = (await assistants.findById(open.id).lean()) ?? {}
  await users.updateOne({ _id: ownerId }, { $set: { last_active_at: longAgo } })
  service.model.reply({ text: 'Hello.' })
  const body = { assistant_id: open.id, input: [{ type: 'human', content: 'Hi' }] }
  await readRun(await apiClient(service.url, open.token).fetch('POST', '/public/runs/stream', body))
  await eventually('the activity', async () => {
    const owner = await users.findById(ownerId).lean()
    return (owner?.last_active_at ?? longAgo) > longAgo
  })
})

it('is noted at most every five minutes', async () => {
  const { users } = service.collections
  const { userId } = await insertUser(service)
  const at = async () => (await users.findById(userId).lean())?.last_active_at
  const before = await at()
  await noteActivity(users, { _id: userId })
  expect(await at()).toEqual(before)
})

it('a program cannot allow another one to log in, and its login ends with the token that allowed it', async () => {
  const owner = await insertUser(service)
  const anybody = apiClient(service.url)
  const begin = async () => anybody.post('/auth/login-codes', { name: 'a program' })
  const first = await begin()
  await owner.post('/user/login-codes/decide', { code: first.user_code, allow: true })
  const { programLogins } = service.collections
  const soon = new Date(Date.now() + 3_600_000)
  await programLogins.updateOne({ user_id: owner.userId }, { $set: { allowed_until: soon } })
  const { jwt_token: token } = await anybody.post('/auth/login-codes/redeem', { device_code: first.device_code })
  expect((await programLogins.findOne({ user_id: owner.userId }).lean())?.remove_at).toEqual(soon)
  const program = apiClient(service.url, String(token))
  const second = await begin()
  const allowing = { code: second.user_code, allow: true }
  expect((await program.call('POST', '/user/login-codes/decide', allowing)).status).toBe(403)
  expect((await owner.call('POST', '/user/login-codes/decide', allowing)).status).toBe(200)
  await programLogins.updateOne({ user_id: owner.userId, status: 'used' }, { $set: { remove_at: new Date(0) } })
  expect((await program.call('GET', '/auth/me')).status).toBe(401)
})
