import { expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { promptLimits } from '../../domain/records/prompt.ts'
import { archiveOf, importInto } from '../support/archives.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'

const service = useSharedService()

it('keeps, changes and deletes prompts, which only their owner sees', async () => {
  const [ada, other] = [await insertUser(service), await insertUser(service)]
  const made = await ada.post('/user/prompts', { name: ' Short ', text: 'Answer in two sentences: ' })
  expect(made).toMatchObject({ name: 'Short', text: 'Answer in two sentences: ' })
  const path = `/user/prompts/${made.prompt_id}`
  expect((await other.call('PUT', path, { name: 'x', text: 'x' })).status).toBe(404)
  expect((await other.call('DELETE', path)).status).toBe(404)
  expect(await other.get('/user/prompts')).toEqual([])
  await ada.post('/user/prompts', { name: 'A first', text: 'x' })
  expect(await ada.put(path, { name: 'Shorter', text: 'One sentence.' })).toMatchObject({
    prompt_id: made.prompt_id,
    name: 'Shorter',
    text: 'One sentence.',
    created_at: made.created_at,
  })
  const names = (await ada.get('/user/prompts')).map(({ name }: { name: string }) => name)
  expect(names).toEqual(['A first', 'Shorter'])
  expect((await ada.call('DELETE', path)).status).toBe(200)
  expect((await ada.call('DELETE', path)).status).toBe(404)
})

it('refuses prompts without words, prompts that are too long, and a repeated request makes one', async () => {
  const { call } = await insertUser(service)
  const refused: [object, number][] = [
    [{ name: ' ', text: 'x' }, 400],
    [{ name: 'x', text: '\n' }, 400],
    [{ name: '', text: 'x' }, 422],
    [{ name: 'x'.repeat(promptLimits.nameLength + 1), text: 'x' }, 422],
    [{ name: 'x', text: 'x'.repeat(promptLimits.textLength + 1) }, 422],
  ]
  for (const [body, status] of refused) expect((await call('POST', '/user/prompts', body)).status).toBe(status)
  const keyed = { 'idempotency-key': newId() }
  const first = await call('POST', '/user/prompts', { name: 'x', text: 'y' }, keyed)
  const again = await call('POST', '/user/prompts', { name: 'x', text: 'y' }, keyed)
  expect(first.status).toBe(200)
  expect(again.body).toEqual(first.body)
  expect((await call('GET', '/user/prompts')).body.length).toBe(1)
})

it('keeps no more than the limit, also when several are made at once', async () => {
  const { call, userId } = await insertUser(service)
  const now = new Date()
  await service.collections.prompts.insertMany(
    Array.from({ length: promptLimits.prompts - 1 }, (_, place) => ({
      _id: `${userId}-${place}`,
      user_id: userId,
      name: `n${place}`,
      text: 'x',
      created_at: now,
      updated_at: now,
    })),
  )
  const tries = await Promise.all([1, 2, 3].map(() => call('POST', '/user/prompts', { name: 'last', text: 'x' })))
  expect(tries.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 403, 403])
  expect((await call('GET', '/user/prompts')).body.length).toBe(promptLimits.prompts)
})

it('takes prompts into another account by an archive, once', async () => {
  const [source, target] = [await insertUser(service), await insertUser(service)]
  await source.post('/user/prompts', { name: 'Short', text: 'Two sentences: ' })
  const archive = await archiveOf(service, source)
  const { body: report } = await importInto(service, target, archive)
  expect(report).toMatchObject({ imported: { prompts: 1 }, refused: { prompts: 0 }, problems: [] })
  expect(await target.get('/user/prompts')).toMatchObject([{ name: 'Short', text: 'Two sentences: ' }])
  const { body: again } = await importInto(service, target, archive)
  expect(again).toMatchObject({ imported: { prompts: 0 }, existing: { prompts: 1 } })
})
