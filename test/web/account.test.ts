import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAudit } from '../../services/audit/index.ts'
import enAudit from '../../web/src/texts/en/audit.json' with { type: 'json' }
import { apiClient } from '../support/api-client.ts'
import { codeTo, mailTo } from '../support/mailbox.ts'
import { buildTimeoutMs, startPaymentProvider, type TestPaymentProvider } from '../support/payment-provider.ts'
import { png } from '../support/png.ts'
import { goodPassword, insertUser, newEmail, signUpUser } from '../support/users.ts'
import { zip } from '../support/zip.ts'
import { chatGptExport } from './foreign-exports.ts'
import { type Console, look, say, startConsole } from './support.ts'

let site: Console
let provider: TestPaymentProvider
beforeAll(async () => {
  const recurring = { interval: 'month', interval_count: 1 }
  provider = await startPaymentProvider([
    { id: 'price_crew', metadata: { thread_max: '1000' }, unit_amount: 1900, recurring, product: { name: 'Crew' } },
    { id: 'price_fleet', metadata: { thread_max: '5000' }, unit_amount: 9900, recurring, product: { name: 'Fleet' } },
    {
      id: 'price_dinghy',
      metadata: { thread_max: '50' },
      unit_amount: 500,
      recurring: null,
      product: { name: 'Dinghy' },
    },
  ])
  site = await startConsole({
    STORAGE_MAX_MB: '5000',
    STRIPE_SECRET_KEY: 'sk_test_1',
    STRIPE_WEBHOOK_SECRET: 'whsec_of_the_test',
    STRIPE_API_BASE: provider.url,
  })
}, buildTimeoutMs)
afterAll(async () => {
  await site.close()
  await provider.close()
})

test('a new user signs up, confirms the address, resets the password, and deletes the account with a receipt', async () => {
  const email = newEmail()
  const page = await site.newPage()
  await page.goto(`${site.url}/`)
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
  await page.keyboard.type(email)
  expect(await page.getByLabel('E-mail address').inputValue()).toBe(email)
  await page.getByLabel('Password', { exact: true }).fill('seen')
  expect(await page.getByLabel('Password', { exact: true }).getAttribute('type')).toBe('password')
  await page.getByRole('button', { name: 'Show the password' }).click()
  expect(await page.getByLabel('Password', { exact: true }).getAttribute('type')).toBe('text')
  await page.getByRole('button', { name: 'Hide the password' }).click()
  await site.expectAccessible(page, 'login')
  await page.getByRole('link', { name: 'Create an account' }).click()
  await page.getByRole('heading', { name: 'Create an account' }).waitFor()
  // Nobody types an address twice.
  expect(await page.getByLabel('E-mail address').inputValue()).toBe(email)
  await page.getByLabel('Password', { exact: true }).fill('short')
  await page.getByRole('button', { name: 'Create an account' }).click()
  await page.getByText('The password needs at least 8 characters.').waitFor()
  await page.getByLabel('Password', { exact: true }).fill(goodPassword)
  await page.getByLabel('First name').fill('Ada')
  await page.getByRole('button', { name: 'Create an account' }).click()
  await page.getByRole('link', { name: 'Open the local mailbox' }).waitFor()
  await site.expectAccessible(page, 'the page of the code')
  // The sixth digit sends the code.
  await page.getByLabel('Code').pressSequentially('000 000')
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Code').fill(await codeTo(email))
  await page.getByRole('heading', { name: /^What can I do for you/ }).waitFor()

  await page.getByRole('button', { name: /^Your account/ }).click()
  await page.getByRole('menuitem', { name: 'Log out' }).click()
  await page.getByRole('link', { name: 'Forgot your password?' }).click()
  await page.getByLabel('E-mail address').fill(email)
  await page.getByRole('button', { name: 'Send the link' }).click()
  await page.getByText(`A link is on its way to ${email}.`).waitFor()
  const link = /https?:\S+\/reset-password\?token=\S+/.exec((await mailTo(email, 2)).text)?.[0] ?? ''
  await page.goto(`${site.url}/reset-password${new URL(link).search}`)
  await page.getByLabel('New password').fill('another good password')
  await page.getByRole('button', { name: 'Change the password' }).click()
  await page.getByText('Your password is changed.').waitFor()
  await page.getByRole('link', { name: 'Back to the login' }).click()
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(goodPassword)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Password', { exact: true }).fill('another good password')
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('heading', { name: /^What can I do for you/ }).waitFor()

  await page.getByRole('button', { name: /^Your account/ }).click()
  await page.getByRole('menuitem', { name: 'Account' }).click()
  await page.getByLabel('Last name').fill('Lovelace')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Ada Lovelace').waitFor()
  await site.expectAccessible(page, 'the account')
  await page.getByRole('button', { name: 'Delete my account' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox').fill('somebody@example.com')
  await dialog.getByRole('button', { name: 'Delete my account' }).click()
  await dialog.getByRole('alert').waitFor()
  await dialog.getByRole('textbox').fill(email)
  await dialog.getByRole('button', { name: 'Delete my account' }).click()
  await page.getByRole('heading', { name: 'Your account is deleted' }).waitFor()
  // By its name in the reader's language, and without what held nothing.
  await page.getByRole('cell', { name: 'Projects', exact: true }).waitFor()
  expect(await page.getByRole('cell', { name: 'Vectors', exact: true }).count()).toBe(0)
  await site.expectAccessible(page, 'after the deletion')
  await page.goto(`${site.url}/console/chat`)
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
})

test('a new password ends the sessions of the console that did not set it', async () => {
  const user = await signUpUser(site.service)
  const page = await site.newPage(user.token)
  await page.goto(`${site.url}/console/account`)
  await page.getByLabel('Current password').fill(goodPassword)
  await page.getByLabel('New password').fill('another good password')
  await page.getByRole('button', { name: 'Change the password' }).click()
  await page.getByText('Your password is changed.').waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Account' }).waitFor()
  const tab = await site.context.newPage()
  await tab.goto(`${site.url}/console/chat`)
  const field = tab.getByRole('textbox', { name: 'Message', exact: true })
  await field.fill('Half a thought')
  await page.evaluate(() => sessionStorage.setItem('assistant-platform.other', 'of this login'))
  const change = { current_password: 'another good password', new_password: 'a third good password' }
  expect((await user.call('POST', '/user/change-password', change)).status).toBe(200)
  await page.reload()
  // Each tab says why, also one that only hears of it from the other, and goes on where it was.
  const places = [
    [page, '/console/account'],
    [tab, '/console/chat'],
  ] as const
  for (const [left, at] of places) {
    await left.getByText('Your password was changed on another device').waitFor()
    expect(new URL(left.url()).searchParams.get('next')).toBe(at)
  }
  expect(await page.evaluate(() => sessionStorage.getItem('assistant-platform.other'))).toBeNull()
  await site.expectAccessible(page, 'the login after a new password')
  await tab.getByLabel('E-mail address').fill(user.email)
  await tab.getByLabel('Password', { exact: true }).fill('a third good password')
  await tab.getByRole('button', { name: 'Log in' }).click()
  await field.waitFor()
  expect(await field.inputValue()).toBe('Half a thought')
  // Another person finds nothing of it, also after a login in another tab.
  const other = await insertUser(site.service)
  await other.post('/assistants/', { name: 'Pilot', config: {} })
  await tab.evaluate('window.hasLoadedBefore = true')
  await page.evaluate((token) => localStorage.setItem('assistant-platform.session', token), other.token)
  await tab.waitForFunction('window.hasLoadedBefore === undefined')
  await tab.getByText(other.email).waitFor()
  await field.waitFor()
  expect(await field.inputValue()).toBe('')
  await tab.close()
  // The contract knows no revocation of tokens.
  expect((await user.call('GET', '/user/')).status).toBe(200)
})

test('a refusal stands between the fields and the button that was pressed', async () => {
  const user = await signUpUser(site.service)
  const page = await site.newPage()
  /** The places of the field above, of what is said, and of the button, from the top. */
  const inOrder = async (field: string, said: string, button: string) => {
    const alert = page.getByRole('alert').filter({ hasText: said })
    await alert.waitFor()
    const parts = [page.getByLabel(field, { exact: true }), alert, page.getByRole('button', { name: button })]
    const tops = await Promise.all(parts.map(async (part) => (await part.boundingBox())?.y))
    expect(tops).toEqual(tops.toSorted((a = 0, b = 0) => a - b))
  }
  await page.goto(`${site.url}/login`)
  await page.getByLabel('E-mail address').fill(user.email)
  await page.getByLabel('Password', { exact: true }).fill('not the right one')
  await page.getByRole('button', { name: 'Log in' }).click()
  await inOrder('Password', 'The e-mail address or the password is wrong.', 'Log in')
  await look(page, 'login-refused')
  await page.getByLabel('Password', { exact: true }).fill(goodPassword)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor()
  await page.goto(`${site.url}/console/account`)
  await page.getByLabel('Current password').fill('not the right one')
  await page.getByLabel('New password', { exact: true }).fill('another good password')
  await page.getByRole('button', { name: 'Change the password' }).click()
  await inOrder('New password', 'The current password is wrong.', 'Change the password')
})

test('after an expired login the user returns to the same page', async () => {
  const user = await insertUser(site.service)
  const page = await site.newPage(`${user.token.slice(0, -4)}aaaa`)
  await page.goto(`${site.url}/console/usage`)
  await page.getByText('Your session has ended. Log in again').waitFor()
  expect(await page.evaluate(() => localStorage.getItem('assistant-platform.session'))).toBeNull()
  expect(new URL(page.url()).searchParams.get('next')).toBe('/console/usage')
  await site.expectAccessible(page, 'a login after a session')
})

test('projects are created, opened and deleted with their contents', async () => {
  const { page, user } = await site.signedIn()
  await page.getByRole('link', { name: 'Projects' }).click()
  await page.getByRole('button', { name: 'New project' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('main')
  await page.getByRole('dialog').getByRole('button', { name: 'New project' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByRole('dialog').getByLabel('Name').fill('Harbour')
  await page.getByRole('dialog').getByRole('button', { name: 'New project' }).click()
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await page.getByText('There is no assistant in this project').waitFor()
  await page.getByRole('link', { name: 'Projects' }).click()
  await site.expectAccessible(page, 'projects')
  await page.getByRole('button', { name: 'Delete: main' }).click()
  await page.getByText('holds 1 assistant and 0 chats').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await expect.poll(async () => (await user.call('GET', '/projects/')).body.length, { timeout: 30_000 }).toBe(1)
})

test('a user buys a plan, pays, and returns with a larger quota', async () => {
  const { page, user } = await site.signedIn()
  await page.context().route('https://pay.example.com/**', (route) => route.fulfill({ body: 'the payment page' }))
  await page.getByRole('link', { name: 'Usage' }).click()
  await page.getByText('0 B of 5,000 MB').waitFor()
  await page.getByRole('link', { name: 'Plans that allow more chats' }).click()
  await page.getByText('You have 0 chats now and may have 100.').waitFor()
  const crew = page.locator('.card', { hasText: 'Crew' })
  await crew.getByText('$19.00').waitFor()
  await crew.getByText('Paid every month').waitFor()
  await page.locator('.card', { hasText: 'Dinghy' }).getByText('Your account may have as many chats').waitFor()
  await site.expectAccessible(page, 'plans')
  await site.picture(page, 'plans', { size: { width: 1280, height: 520 } })
  await crew.getByRole('button', { name: 'Buy Crew' }).click()
  await page.waitForURL('https://pay.example.com/**')
  const id = new URL(page.url()).pathname.slice(1)
  const back = String(provider.checkout(id).params.get('success_url')).replace('{CHECKOUT_SESSION_ID}', id)

  await page.goto(`${site.url}/usage?checkout=cancelled&session_id=${id}`)
  await page.getByText('Nothing was bought.').waitFor()
  await page.goto(`${site.url}${new URL(back).pathname}${new URL(back).search}`)
  await page.getByText('Your payment has not arrived yet.').waitFor()
  expect(await page.getByRole('link', { name: 'Go to the payment page' }).getAttribute('href')).toContain(id)
  provider.checkout(id).session['status'] = 'complete'
  await page.getByText('Your plan is active: you may have up to 1,000 chats.').waitFor()
  await page.getByText('You have 0 chats now and may have 1,000.').waitFor()
  await site.expectAccessible(page, 'plans after a payment')
  expect((await user.get('/auth/thread-info')).thread_max).toBe(1000)

  const other = await site.signedIn()
  // Who has as many chats as allowed is led to the plans.
  await site.service.collections.users.updateOne({ _id: other.user.userId }, { $set: { thread_max: 0 } })
  await other.page.getByRole('textbox', { name: 'Message', exact: true }).fill('One more')
  await other.page.keyboard.press('Enter')
  await other.page.getByText('Delete some that you do not need, or choose a plan that allows more.').waitFor()
  await look(other.page, 'too-many-chats-plans')
  await other.page.getByRole('link', { name: 'Plans that allow more chats' }).click()
  await other.page.getByRole('heading', { name: 'Plans' }).waitFor()
  await other.page.goto(`${site.url}/usage?checkout=paid&session_id=${id}`)
  await other.page.getByRole('alert').getByText('There is no such checkout.').waitFor()
  provider.away(true)
  await other.page.getByRole('button', { name: 'Buy Fleet' }).click()
  await other.page.locator('.card', { hasText: 'Fleet' }).getByRole('alert').waitFor()
  provider.away(false)
})

test('a user exports the data of the account, and imports the archive with a report', async () => {
  const { page, user, assistantId } = await site.signedIn()
  await user.post('/threads/', { name: 'Berths in May', assistant_id: assistantId })
  await page.getByRole('button', { name: /^Your account/ }).click()
  await page.getByRole('menuitem', { name: 'Your data' }).click()
  await page.getByRole('button', { name: 'Make a link to the archive' }).click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download the archive' }).click(),
  ])
  expect(download.suggestedFilename()).toBe('export.tar.gz')
  const archive = await download.path()

  const other = await site.signedIn()
  const { page: target } = other
  await target.goto(`${site.url}/console/data`)
  expect(await target.getByRole('button', { name: 'Import the archive' }).isDisabled()).toBe(true)
  const wrong = { name: 'wrong.tar.gz', mimeType: 'application/gzip', buffer: Buffer.from('no archive') }
  await target.getByLabel('Archive (.tar.gz)').setInputFiles(wrong)
  await target.getByText('wrong.tar.gz').waitFor()
  await target.getByRole('button', { name: 'Import the archive' }).click()
  expect(await target.getByRole('alert').textContent()).toMatch(/^[A-Z].*\.$/)
  await target.getByLabel('Archive (.tar.gz)').setInputFiles(archive)
  await target.getByRole('button', { name: 'Import the archive' }).click()
  await target.getByText('The archive is imported.').waitFor()
  await expect.poll(() => target.locator('tr', { hasText: /^Chats/ }).innerText()).toMatch(/Chats\s+1\s+0\s+0/)
  await site.expectAccessible(target, 'the report of an import')
  await target.emulateMedia({ colorScheme: 'dark' })
  await site.expectAccessible(target, 'the report of an import, dark')
  expect(await other.user.get('/projects/')).toHaveLength(2)

  // Nothing twice, and what the quota refuses is told with its reason.
  const { threads, users } = site.service.collections
  await threads.deleteMany({ user_id: other.user.userId })
  await users.updateOne({ _id: other.user.userId }, { $set: { thread_max: 0 } })
  await target.getByRole('button', { name: 'Import the archive' }).click()
  await target.getByText('Some records were refused.').waitFor()
  await target.getByRole('heading', { name: 'Why records were refused' }).waitFor()
  await expect.poll(() => target.locator('tr', { hasText: 'Assistants' }).innerText()).toMatch(/Assistants\s+0\s+1\s+0/)
})

test('the daily budget of a project is set, and shows its use', async () => {
  const { page, user } = await site.signedIn()
  await page.getByRole('link', { name: 'Projects' }).click()
  await page.getByRole('button', { name: 'Daily budget: main' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Most answers a day').fill('20')
  await dialog.getByLabel(/^Highest cost a day/).fill('0.5')
  await dialog.getByRole('button', { name: 'Save the budget' }).click()
  await dialog.getByText('0 of 20').waitFor()
  await site.expectAccessible(page, 'a budget')
  const budget = await user.get(`/projects/${user.projectId}/budget`)
  expect(budget.limits).toEqual({ runs: 20, tokens: null, money: 0.5 })
  await dialog.getByLabel('Most answers a day').fill('')
  await dialog.getByRole('button', { name: 'Save the budget' }).click()
  await expect.poll(async () => (await user.get(`/projects/${user.projectId}/budget`)).limits.runs).toBeNull()
})

test('the audit log is shown in pages, and filtered by action', async () => {
  const { page, user } = await site.signedIn()
  const audit = createAudit({ collections: site.service.collections, keepDays: 1 })
  const deleted = { userId: user.userId, actor: 'user', action: 'assistants.delete', outcome: 'done' } as const
  for (let place = 0; place < 55; place++) await audit.record({ ...deleted, subjects: [`assistant-${place}`] })
  await user.call('POST', '/user/change-password', { current_password: 'wrong one', new_password: goodPassword })
  await page.getByRole('button', { name: /^Your account/ }).click()
  await page.getByRole('menuitem', { name: 'Audit log' }).click()
  const rows = page.locator('.audit-list li')
  await rows.filter({ hasText: 'You changed the password' }).getByText('refused').waitFor()
  expect(await rows.count()).toBe(50)
  await page.getByLabel('Show', { exact: true }).selectOption('Assistant deleted')
  await expect.poll(() => rows.filter({ hasText: 'You deleted the assistant something that is gone' }).count()).toBe(50)
  expect(await rows.count()).toBe(50)
  await page.getByRole('button', { name: 'Show older entries' }).click()
  await expect.poll(() => rows.count()).toBe(55)
  await rows.last().locator('summary').click()
  await rows.last().getByText('assistants.delete', { exact: true }).waitFor()
  // What is gone has no name, and ids are not shown.
  expect(await rows.last().textContent()).not.toContain('assistant-0')
  await site.expectAccessible(page, 'the audit log')
  await page.getByLabel('Show', { exact: true }).selectOption('Login')
  await page.getByText('There are no entries.').waitFor()
})

test('every action of the audit log with a text is an operation of the service', async () => {
  const { body } = await apiClient(site.url).call('GET', '/openapi.json')
  const operations: { operationId?: string }[] = Object.values<object>(body.paths).flatMap((path) =>
    Object.values(path),
  )
  const known = new Set([
    ...operations.map(({ operationId }) => operationId),
    'admin.access',
    'accounts.socialCallback',
    'accounts.socialCallbackOf',
  ])
  // Provisioning describes itself, and is not in the description of the API.
  const named = Object.keys({ ...enAudit.actions, ...enAudit.adminActions, ...enAudit.sentences }).filter(
    (action) => !action.startsWith('scim.'),
  )
  expect(named.filter((action) => !known.has(action))).toEqual([])
})

test('chats of other services come with all their versions, and a report says what is missing', async () => {
  const { page, user } = await site.signedIn()
  await page.goto(`${site.url}/console/data`)
  const choose = async (name: string, content: string | Buffer) => {
    const file = { name, mimeType: 'application/json', buffer: Buffer.from(content) }
    await page.getByLabel('File of the chats').setInputFiles(file)
    await page.getByRole('button', { name: 'Import the chats' }).click()
  }
  await choose('wrong.json', 'no JSON')
  await page.getByText('This file is no JSON.').waitFor()
  await choose('other.json', '[{"a": 1}]')
  await page.getByText('This is no export of ChatGPT, Claude or LibreChat.').waitFor()
  await choose('photos.zip', zip([{ name: 'photo.json', data: Buffer.from('{}') }]))
  await page.getByText('This archive holds no conversations.json.').waitFor()
  await look(page, 'foreign-problem')
  // The archive as it was sent: only the chats are read of it, also when they are in several files.
  const [first, ...others] = chatGptExport
  const files = { 'export/photo.png': 'x', 'conversations-000.json': [first], 'conversations-001.json': others }
  const entries = Object.entries(files).map(([name, data]) => ({ name, data: Buffer.from(JSON.stringify(data)) }))
  await choose('export.zip', zip([...entries, { name: 'export/file-Ab1-pier.png', data: png }]))
  await page.getByText('2 chats were read into the project “ChatGPT”.').waitFor()
  await page.getByText('1 picture or file is missing').waitFor()
  await page.getByText('1 chat was left out').waitFor()
  await site.expectAccessible(page, 'the import of chats')
  await page.getByRole('heading', { name: 'Chats of other services' }).scrollIntoViewIfNeeded()
  await look(page, 'foreign')

  // Once more: everything is there, the picture too.
  await page.getByRole('button', { name: 'Import the chats' }).click()
  await page.getByRole('row', { name: /^chats 0 2 0$/i }).waitFor()
  const projects = await user.get('/projects/')
  const project = projects.find(({ name }: { name: string }) => name === 'ChatGPT')
  const { jwt_token: token } = await user.get(`/projects/${project.project_id}`)
  const there = apiClient(site.url, token)
  expect((await there.get('/threads/')).threads).toMatchObject([
    { name: 'Berths', created_at: '2025-03-01T08:00:00.000Z' },
  ])
  expect((await there.get('/threads/?archived=true')).threads).toMatchObject([{ name: 'Old' }])
  const [thread] = (await there.get('/threads/')).threads
  const other = await site.newPage(token)
  await other.goto(`${site.url}/console/chat/${thread.thread_id}`)
  await other.getByText('A crane costs 80 marks.').waitFor()
  const pictures = other.locator('.chat-column img')
  await expect
    .poll(() => pictures.evaluateAll((all) => all.map((one) => Reflect.get(one, 'naturalWidth'))))
    .toEqual([1])
  await look(other, 'an-imported-chat')
  await other.getByRole('button', { name: 'Previous version' }).click()
  await other.getByText('I do not know.').waitFor()
  site.model.reply({ text: 'It goes on.' })
  await say(other, 'Thank you')
  await other.getByText('It goes on.', { exact: true }).waitFor()
  await other.close()
})
