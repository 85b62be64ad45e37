import { afterAll, beforeAll, expect, test } from 'vitest'
import { firstIdAt } from '../../domain/ids.ts'
import { insertUser } from '../support/users.ts'
import { type Console, startConsole } from './support.ts'

let site: Console
beforeAll(async () => {
  site = await startConsole({ TEMPORAL_UI_URL: 'http://127.0.0.1:1' })
})
afterAll(() => site.close())

/** Runs of the last weeks, so that the plots have something to show. */
async function ranBefore(): Promise<void> {
  const owner = await insertUser(site.service)
  const { assistant_id: assistantId, project_id: projectId } = await owner.post('/assistants/', { name: 'Guide' })
  const { thread_id: threadId } = await owner.post('/threads/', { name: 'Tides', assistant_id: assistantId })
  const dayMs = 86_400_000
  const runs = Array.from({ length: 120 }, (_, place) => {
    const at = new Date(Date.now() - Math.floor(place / 6) * dayMs - (place % 6) * 1000)
    const tokens = 400 + ((place * 136) % 900)
    return {
      _id: `${firstIdAt(at).slice(0, -4)}${String(place).padStart(4, '0')}`,
      thread_id: threadId,
      user_id: owner.userId,
      project_id: projectId,
      assistant_id: assistantId,
      public: false,
      status: place % 23 === 7 ? ('error' as const) : ('success' as const),
      input_json: '[]',
      overrides: {},
      fence: 1,
      usage: { prompt_tokens: tokens, completion_tokens: tokens / 4, total_tokens: tokens + tokens / 4 },
      first_token_ms: 300 + ((place * 61) % 400),
      created_at: at,
      finished_at: at,
    }
  })
  await site.service.collections.runs.insertMany(runs.filter((_, place) => place % 5 !== 2))
}

test('operators see the service, and clean up only after a dry run', async () => {
  const stranger = await insertUser(site.service)
  await site.service.collections.users.updateOne(
    { _id: stranger.userId },
    { $set: { last_active_at: new Date('2020-01-01') } },
  )
  await insertUser(site.service)
  await ranBefore()
  const page = await site.newPage()
  await page.goto(`${site.url}/admin/`)
  await page.getByLabel('Admin token').fill('wrong')
  await page.getByRole('button', { name: 'Enter' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Admin token').fill(site.service.env['ADMIN_TOKEN'] ?? '')
  await page.getByRole('button', { name: 'Enter' }).click()
  await page.getByRole('heading', { name: 'Operation' }).waitFor()
  await page.locator('.badge-ok').first().waitFor()
  await page.getByRole('cell', { name: stranger.email }).waitFor()
  await site.expectAccessible(page, 'operation')
  await page.getByRole('img', { name: 'Runs by day' }).waitFor()
  await site.picture(page, 'operation', {
    size: { width: 1280, height: 1325 },
    // On a busy machine a dependency may answer too late for one look.
    without: page.locator('section.card', { hasText: 'Dependencies' }).locator('.badge-danger'),
  })

  const cleanup = page.locator('section.card', { hasText: 'Users without activity' })
  expect(await cleanup.getByRole('button', { name: /^Delete/ }).count()).toBe(0)
  await cleanup.getByRole('button', { name: 'Show what would be removed' }).click()
  await cleanup.getByText('1 users would be deleted.').waitFor()
  await cleanup.getByRole('button', { name: 'Delete 1 user' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete 1 user' }).click()
  await cleanup.getByText('1 users are being deleted.').waitFor()
  await expect
    .poll(() => site.service.collections.users.countDocuments({ _id: stranger.userId }), { timeout: 30_000 })
    .toBe(0)

  const orphans = page.locator('section.card', { hasText: 'Orphaned data' })
  await orphans.getByRole('button', { name: 'Show what would be removed' }).click()
  await orphans.getByText('There are none.').waitFor()
  await page.getByLabel('Id of the receipt').fill('no-such-receipt')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('alert').waitFor()

  const found = page.locator('section.card', { hasText: 'Find a user' })
  const someone = await insertUser(site.service)
  await found.getByLabel('E-mail address').fill(someone.email)
  await found.getByRole('button', { name: 'Find' }).click()
  await found.getByText('0 / 100').waitFor()
  await found.getByLabel('Chats allowed without plans').fill('7')
  await found.locator('form', { hasText: 'Chats allowed' }).getByRole('button', { name: 'Change' }).click()
  await found.getByText('0 / 7').waitFor()
  await found.getByLabel('Reason (for operators only)').fill('spam')
  await found.getByRole('button', { name: 'Suspend' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend this user' }).click()
  await found.getByText(/^suspended/).waitFor()
  await site.expectAccessible(page, 'operation with a suspended user')
  expect((await someone.call('GET', '/user/')).status).toBe(403)
  await found.getByRole('button', { name: 'End the suspension' }).click()
  await found.getByText('active', { exact: true }).waitFor()
  await someone.get('/user/')
  const log = page.locator('section.card', { hasText: 'What was done with accounts' })
  await log.getByRole('button', { name: 'Show', exact: true }).waitFor()
  await log.getByLabel('Id of a user').fill(someone.userId)
  await log.getByRole('button', { name: 'Show', exact: true }).click()
  await log.getByRole('cell', { name: 'Suspension ended' }).waitFor()
  await log.getByLabel('Show', { exact: true }).selectOption('Account suspended')
  await expect.poll(() => log.locator('tbody tr').count()).toBe(1)
  await log.getByRole('cell', { name: 'an operator' }).waitFor()
  await site.expectAccessible(page, 'operation with the audit log')
  await page.getByRole('cell', { name: 'runs, workflows' }).waitFor()
  await page.getByRole('img', { name: 'Runs by day' }).waitFor()

  expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).toBe('{}')
  await page.reload()
  await page.getByLabel('Admin token').waitFor()
})

test('without a payment provider the page of plans says that no payments are taken', async () => {
  const { page } = await site.signedIn()
  await page.goto(`${site.url}/console/plans`)
  await page.getByText('This service takes no payments.').waitFor()
  await site.expectAccessible(page, 'plans without billing')
})
