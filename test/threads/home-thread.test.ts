import { describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useSharedService } from '../support/shared-service.ts'
import { signUpUser } from '../support/users.ts'

describe('the thread that a login names', () => {
  const service = useSharedService({ respond: () => ({ text: 'Answered.' }) })
  const human = [{ type: 'human', content: 'Hello' }]

  async function newUser() {
    const user = await signUpUser(service)
    const listed = async () => {
      const { threads, total } = await user.get('/threads/')
      expect(total).toBe(threads.length)
      return threads.map((thread: { thread_id: string }) => thread.thread_id)
    }
    return { user, listed, threadId: user.threadId }
  }

  it('is there for its owner, but in no list before it is used', async () => {
    const { user, listed, threadId } = await newUser()
    expect(await user.get(`/threads/${threadId}`)).toMatchObject({ thread_id: threadId, status: 'idle' })
    expect(await listed()).toEqual([])
    const other = await user.post('/threads/', { name: 'Empty, but wanted' })
    expect(await listed()).toEqual([other.thread_id])
    await user.post(`/threads/${threadId}/state`, { values: human })
    expect(await listed()).toEqual([threadId, other.thread_id])
    const again = await user.post('/auth/login', { email: user.email, password: user.password })
    expect(again.main_thread_id).toBe(threadId)
  })

  it('is listed when it was named', async () => {
    const { user, listed, threadId } = await newUser()
    await user.put(`/threads/${threadId}`, { name: 'Harbour' })
    expect(await listed()).toEqual([threadId])
  })

  it('is listed while its first run is still being answered', async () => {
    const { user, listed, threadId } = await newUser()
    const [assistant] = await user.get('/assistants/')
    const gate = Promise.withResolvers<void>()
    const reply = service.model.reply({ text: ['Begun, ', gate.promise, 'ended.'] })
    const run = await user.post('/runs/', {
      thread_id: threadId,
      assistant_id: assistant.assistant_id,
      input: human,
    })
    await reply.arrived
    expect(await listed()).toEqual([threadId])
    gate.resolve()
    await eventually('the end of the run', async () => (await user.get(`/runs/${run.run_id}`)).status === 'success')
    expect(await listed()).toEqual([threadId])
  })
})
