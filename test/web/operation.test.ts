import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { firstIdAt } from '../../domain/ids.ts'
import { useStarted } from '../support/use-started.ts'
import { insertUser } from '../support/users.ts'
import { startConsole } from './support.ts'

const site = useStarted(() => startConsole({ TEMPORAL_UI_URL: 'http://127.0.0.1:1' }))

/** Whatever is folded is opened: no id stands on the page. */
async function expectNoIds(page: Page, what: string): Promise<void> {
  await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`)
  const shown = await page.evaluate<string>('document.body.innerText')
  expect(shown.length, what).toBeGreaterThan(100)
  // The addresses of these users are made of ids.
  const ids = shown.replaceAll(/\S+@\S+/g, '').match(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-\S+/gi)
  expect(ids, what).toBeNull()
}

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
      acting: { person: 'owner' as const, origin: 'chat' as const },
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
  const someone = await insertUser(site.service)
  await ranBefore()
  const page = await site.newPage()
  const open = async (name: string) => {
    await page.getByRole('navigation').getByRole('link', { name }).click()
    await page.getByRole('heading', { level: 1 }).waitFor()
  }
  await page.goto(`${site.url}/admin/`)
  await page.getByLabel('Admin token').fill('wrong')
  await page.getByRole('button', { name: 'Enter' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Admin token').fill(site.service.env['ADMIN_TOKEN'] ?? '')
  await page.getByRole('button', { name: 'Enter' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.getByRole('img', { name: 'Runs by day' }).waitFor()
  await page.getByRole('rowheader', { name: 'Assistants' }).waitFor()
  await site.expectAccessible(page, 'operation')
  // The lines of all figures have one width and end at one height, whatever stands above them.
  const sparks = await page.evaluate<string[]>(`[...document.querySelectorAll('.spark')]
    .map((one) => one.getBoundingClientRect())
    .map(({ width, height, bottom }) => [width, height, bottom].map(Math.round).join(' '))`)
  expect(sparks).toHaveLength(4)
  expect(new Set(sparks).size).toBe(1)
  // On a busy machine a dependency may answer too late for one look.
  await page.getByText('All is well').waitFor()
  await site.picture(page, 'operation', { size: { width: 1280, height: 1000 } })
  expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).toBe('{}')

  await open('Clean-up')
  const cleanup = page.locator('section.card', { hasText: 'Users without activity' })
  expect(await cleanup.getByRole('button', { name: /^Delete/ }).count()).toBe(0)
  await cleanup.getByRole('button', { name: 'Show what would be removed' }).click()
  await cleanup.getByText('1 users would be deleted.').waitFor()
  await cleanup.getByRole('cell', { name: stranger.email }).waitFor()
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
  await site.expectAccessible(page, 'clean-ups')

  await open('Users')
  await page.getByLabel('Search').fill(someone.email.slice(0, -4).toUpperCase())
  await page.getByText('1 user', { exact: true }).waitFor()
  await page.getByRole('button', { name: someone.email }).click()
  const panel = page.getByRole('complementary', { name: someone.email })
  await panel.getByText('0 / 100').waitFor()
  await expectNoIds(page, 'users')
  await panel.getByLabel('Chats allowed without plans').fill('7')
  await panel.locator('form', { hasText: 'Chats allowed' }).getByRole('button', { name: 'Change' }).click()
  await panel.getByText('0 / 7').waitFor()
  await panel.getByLabel('Reason (for operators only)').fill('spam')
  await panel.getByRole('button', { name: 'Suspend' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend this user' }).click()
  await panel.getByText(/^suspended/).waitFor()
  await page.getByRole('row', { name: someone.email }).getByText('suspended').waitFor()
  await site.expectAccessible(page, 'operation with a suspended user')
  expect((await someone.call('GET', '/user/')).status).toBe(403)
  await panel.getByRole('button', { name: 'End the suspension' }).click()
  await panel.getByText('active', { exact: true }).waitFor()
  await someone.get('/user/')
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })

  await open('Audit')
  await page.getByLabel('Id of a user').fill(someone.userId)
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  const entries = page.locator('.audit-list li')
  const ended = entries.filter({ hasText: `An operator ended the suspension of ${someone.email}` })
  await ended.getByText('Chrome on Linux').waitFor()
  await ended.locator('summary').click()
  await ended.getByText('admin.restoreUser').waitFor()
  await page.getByLabel('Show', { exact: true }).selectOption('Account suspended')
  await expect.poll(() => entries.count()).toBe(1)
  await site.expectAccessible(page, 'operation with the audit log')

  // An address will do.
  await page.getByLabel('Address or id of a user').fill('nobody@example.com')
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await page.getByText('Nobody has this address.').waitFor()
  await page.getByLabel('Address or id of a user').fill(someone.email.toUpperCase())
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await page.getByText('Nobody has this address.').waitFor({ state: 'detached' })
  await page.getByLabel('Show', { exact: true }).selectOption('Everything')
  await ended.waitFor()
  await expectNoIds(page, 'the audit log of operators')

  await open('Queues')
  await page.getByRole('cell', { name: 'runs, workflows' }).waitFor()
  await site.expectAccessible(page, 'queues')

  await page.reload()
  await page.getByLabel('Admin token').fill(site.service.env['ADMIN_TOKEN'] ?? '')
  await page.getByLabel('Keep it for this tab').check()
  await page.getByRole('button', { name: 'Enter' }).click()
  await page.getByRole('heading', { name: 'Queues', exact: true }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Queues', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Forget the token' }).click()
  await page.getByLabel('Admin token').waitFor()
  expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).toBe('{}')
})

test('audit, memory, search and plans show names and titles, and no ids', async () => {
  const { page, user, assistantId } = await site.signedIn()
  const { thread_id: threadId } = await user.post('/threads/', { name: 'Tides', assistant_id: assistantId })
  const messageId = crypto.randomUUID()
  await user.post(`/threads/${threadId}/state`, {
    values: [{ type: 'ai', content: 'The pelican comes at noon.', id: messageId }],
  })
  await user.call('PUT', `/threads/${threadId}`, { name: 'Tides of May' })
  await user.post('/memory/', {
    text: 'The boat is red.',
    assistant_id: assistantId,
    source_message_id: messageId,
  })
  const { thread_id: gone } = await user.post('/threads/', { name: 'Gone' })
  await user.call('DELETE', `/threads/${gone}`)
  await page.goto(`${site.url}/console/audit`)
  await page.locator('.audit-list li').first().waitFor()
  await page.getByText('Tides of May').first().waitFor()
  await expectNoIds(page, 'audit')
  await page.goto(`${site.url}/console/memory`)
  await page.getByText(/from a chat$/).waitFor()
  await expectNoIds(page, 'memory')
  await page.getByRole('searchbox', { name: 'Search chats' }).fill('pelican')
  await page.locator('.found-message').waitFor()
  await expectNoIds(page, 'found messages')
  await page.goto(`${site.url}/console/plans`)
  await page.getByText('This service takes no payments.').waitFor()
  await expectNoIds(page, 'plans')
})

test('without a payment provider the page of plans says that no payments are taken', async () => {
  const { page } = await site.signedIn()
  await page.goto(`${site.url}/console/plans`)
  await page.getByText('This service takes no payments.').waitFor()
  await site.expectAccessible(page, 'plans without billing')
})
