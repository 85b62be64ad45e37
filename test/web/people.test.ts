import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { joinProject, tokenOf } from '../projects/joined.ts'
import { apiClient } from '../support/api-client.ts'
import { codeTo, mailTo } from '../support/mailbox.ts'
import { useStarted } from '../support/use-started.ts'
import { type TestUser, goodPassword, insertUser, newEmail } from '../support/users.ts'
import { look, say, startConsole } from './support.ts'

const site = useStarted(() => startConsole())

const membersOf = (projectId: string) => `/projects/${projectId}/members`
const dialogOf = (page: Page) => page.getByRole('dialog')

/** A project with an assistant, and its owner with a name. */
async function harbour() {
  const owner = await insertUser(site.service)
  const person = { first_name: 'Ada', last_name: 'Lovelace' }
  await site.service.collections.users.updateOne({ _id: owner.userId }, { $set: person })
  await owner.call('PUT', `/projects/${owner.projectId}`, { name: 'Harbour' })
  const description = { 'type==agent/description': 'Knows the tides.' }
  const assistant = await owner.post('/assistants/', { name: 'Harbour guide', config: description })
  return { owner, assistantId: String(assistant.assistant_id) }
}

async function named(user: TestUser, first_name: string, last_name: string) {
  await site.service.collections.users.updateOne({ _id: user.userId }, { $set: { first_name, last_name } })
}

/** The page of a link of an invitation, in this console. */
async function linkTo(email: string, count = 1): Promise<string> {
  const token = /invitations\?token=([\w.-]+)/.exec((await mailTo(email, count)).text)?.[1]
  return `${site.url}/invitations?token=${token}`
}

test('an owner invites, sends again, revokes, changes roles and removes', async () => {
  const { owner } = await harbour()
  const grace = await joinProject(site.service, owner.projectId, 'member')
  await named(grace, 'Grace', 'Hopper')
  await grace.post('/threads/', { name: 'Notes of Grace' })
  const page = await site.newPage(owner.token)
  await page.goto(`${site.url}/console/assistants`)
  await page.getByRole('button', { name: 'Project: Harbour' }).click()
  await page.getByRole('menuitem', { name: 'People' }).click()
  await page.getByRole('heading', { name: 'People of “Harbour”' }).waitFor()
  const members = page.getByRole('list', { name: 'Members' })
  await members.getByText('Grace Hopper').waitFor()
  // Whose account holds the project keeps the role, and is told why it cannot leave.
  expect(await members.getByLabel('Role of Ada Lovelace').count()).toBe(0)
  await page.getByText('The project belongs to your account, so you cannot leave it.', { exact: false }).waitFor()

  const email = newEmail()
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Role', { exact: true }).selectOption('Editor')
  await page.getByText('Make and change assistants, files, sources of the web and schedules.').first().waitFor()
  await page.getByRole('button', { name: 'Send the invitation' }).click()
  await page.getByText(`An invitation is on its way to ${email}.`).waitFor()
  const invitations = page.getByRole('list', { name: 'Invitations' })
  await invitations.getByText(email).waitFor()
  await invitations.getByText('The link ends', { exact: false }).waitFor()
  await site.expectAccessible(page, 'people')
  await site.picture(page, 'people')
  const first = await linkTo(email)
  await page.getByRole('button', { name: `Send again to ${email}` }).click()
  await page.getByText('The one before does not work any more.', { exact: false }).waitFor()
  expect(await linkTo(email, 2)).not.toBe(first)
  await page.getByRole('button', { name: `Revoke the invitation of ${email}` }).click()
  await page.getByText('No invitation is open.').waitFor()

  await members.getByLabel('Role of Grace Hopper').selectOption('Owner')
  await page.getByText('Grace Hopper now has the role Owner.').waitFor()
  expect((await owner.get(membersOf(owner.projectId))).members.at(-1)).toMatchObject({ role: 'owner' })
  await page.getByRole('button', { name: 'Remove Grace Hopper' }).click()
  await dialogOf(page).getByText('Grace Hopper can no longer open this project', { exact: false }).waitFor()
  await dialogOf(page).getByLabel('They become yours, in this project.').check()
  await site.expectAccessible(page, 'removal of a member')
  await dialogOf(page).getByRole('button', { name: 'Remove' }).click()
  await page.getByText('Grace Hopper does not use this project any more.').waitFor()
  expect((await owner.get(membersOf(owner.projectId))).members).toHaveLength(1)
  await page.getByRole('link', { name: 'Notes of Grace' }).waitFor()

  // What the service refuses is said in its words.
  await page.getByLabel('E-mail address').fill(owner.email)
  await page.getByRole('button', { name: 'Send the invitation' }).click()
  await page.getByText('This person uses the project already.').waitFor()
})

test('an owner who is not the holder is asked before the own role goes, and can leave', async () => {
  const { owner } = await harbour()
  const grace = await joinProject(site.service, owner.projectId, 'owner')
  await named(grace, 'Grace', 'Hopper')
  const page = await site.newPage(grace.token)
  await page.goto(`${site.url}/console/projects/${owner.projectId}/people`)
  await page.getByText('It is Ada Lovelace’s project. Your role is Owner.', { exact: false }).waitFor()
  await page.getByLabel('Role of Grace Hopper').selectOption('Editor')
  await dialogOf(page).getByRole('button', { name: 'Give it up' }).click()
  await page.getByText('Owners invite people, change roles and remove members.', { exact: false }).waitFor()
  await expect.poll(() => page.getByRole('button', { name: 'Send the invitation' }).count()).toBe(0)
  expect(await page.getByRole('list', { name: 'Members' }).getByRole('button').count()).toBe(0)
  await site.expectAccessible(page, 'people, for an editor')

  await page.getByRole('button', { name: 'Leave the project' }).click()
  await dialogOf(page).getByRole('button', { name: 'Leave' }).click()
  await page.getByText('You have left “Harbour”.').waitFor()
  await page.getByRole('button', { name: 'Project: main' }).waitFor()
  expect(await page.getByText('Your access to', { exact: false }).count()).toBe(0)
  expect((await owner.get(membersOf(owner.projectId))).members).toHaveLength(1)
})

test('the link of an invitation leads a new person from the mail to the project', async () => {
  const { owner } = await harbour()
  const email = newEmail()
  await owner.post(membersOf(owner.projectId), { email, role: 'editor' })
  const link = await linkTo(email)
  const page = await site.newPage()
  await page.goto(link)
  await page.getByRole('heading', { name: 'You are invited to a project' }).waitFor()
  await site.expectAccessible(page, 'an invitation, signed out')
  await page.getByRole('link', { name: 'Create an account' }).click()
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(goodPassword)
  await page.getByRole('button', { name: 'Create an account' }).click()
  await page.getByLabel('Code').fill(await codeTo(email, 2))
  await page.getByText('Ada Lovelace invites you to use the project “Harbour” together.').waitFor()
  await page.getByText('Your role will be Editor.').waitFor()
  await site.expectAccessible(page, 'an invitation')
  await page.getByRole('button', { name: 'Join the project' }).click()
  await page.getByText('You now use “Harbour”.').waitFor()
  await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor()
  // The switcher says whose project it is, and with which role.
  const switcher = page.getByRole('button', { name: 'Project: Harbour' })
  await switcher.getByText('Editor · Ada Lovelace’s project').waitFor()
  await switcher.click()
  await page.getByRole('menuitem', { name: 'main Your own project' }).waitFor()
  await page.keyboard.press('Escape')

  await page.goto(link)
  await page.getByText('You are in “Harbour”, with the role Editor.').waitFor()
  await site.expectAccessible(page, 'an invitation that was accepted')
  await page.getByRole('button', { name: 'Open the project' }).click()
  await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor()
})

test('an invitation says for whom it is, and when it is not valid any more', async () => {
  const { owner } = await harbour()
  const guest = await insertUser(site.service)
  await owner.post(membersOf(owner.projectId), { email: guest.email, role: 'viewer' })
  const link = await linkTo(guest.email)
  const other = await insertUser(site.service)
  const page = await site.newPage(other.token)
  await page.goto(link)
  await page.getByRole('heading', { name: 'This invitation is for another address' }).waitFor()
  await page.getByText(`You are logged in as ${other.email}.`, { exact: false }).waitFor()
  // However long an address is, the page is as wide as the phone.
  await page.setViewportSize({ width: 320, height: 700 })
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
  await page.setViewportSize({ width: 1280, height: 720 })
  await site.expectAccessible(page, 'an invitation for somebody else')
  await page.getByRole('button', { name: 'Log in with another account' }).click()
  await page.getByRole('button', { name: 'Log in' }).waitFor()
  await page.evaluate((token) => localStorage.setItem('assistant-platform.session', token), guest.token)
  await page.goto(link)
  await page.getByText('Your role will be Viewer.').waitFor()
  // Revoked while it is read: the words of the service, and of the page when it is opened again.
  const [, invited] = (await owner.get(membersOf(owner.projectId))).members
  await owner.delete(`${membersOf(owner.projectId)}/${invited.member_id}`)
  await page.getByRole('button', { name: 'Join the project' }).click()
  await page.getByText('This invitation was used or revoked', { exact: false }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'This invitation is not valid any more' }).waitFor()
  await site.expectAccessible(page, 'an invitation that is gone')
  await page.goto(`${site.url}/invitations`)
  await page.getByText('The link is incomplete.', { exact: false }).waitFor()
})

test('what a role does not allow is not offered, and the page says why', async () => {
  const { owner, assistantId } = await harbour()
  const viewer = await joinProject(site.service, owner.projectId, 'viewer')
  const page = await site.newPage(viewer.token)
  const button = (name: string) => page.getByRole('button', { name })
  const why = () => page.getByText('Your role in this project is Viewer', { exact: false }).first().waitFor()
  await page.goto(`${site.url}/console/chat`)
  await why()
  expect(await page.getByRole('textbox', { name: 'Message', exact: true }).count()).toBe(0)
  await site.expectAccessible(page, 'a new chat of a viewer')
  await page.goto(`${site.url}/console/assistants`)
  await why()
  expect(await button('New assistant').count()).toBe(0)
  expect(await button('From a file').count()).toBe(0)
  await page.getByRole('link', { name: 'Harbour guide' }).click()
  await page.getByRole('heading', { name: 'Harbour guide' }).waitFor()
  await page.getByText('Knows the tides.').waitFor()
  await why()
  for (const name of ['Choose files', 'Add from the web', 'Test', 'Actions for Harbour guide'])
    expect(await button(name).count(), name).toBe(0)
  expect(await page.getByRole('link', { name: 'Chat', exact: true }).count()).toBe(0)
  await site.expectAccessible(page, 'an assistant of a viewer')
  await page.goto(`${site.url}/console/schedules`)
  await why()
  expect(await button('New schedule').count()).toBe(0)
  await page.goto(`${site.url}/console/projects`)
  await page.getByText('Viewer · Ada Lovelace’s project').last().waitFor()
  for (const name of ['Edit: Harbour', 'Delete: Harbour', 'Daily budget: Harbour'])
    expect(await button(name).count(), name).toBe(0)
  await site.expectAccessible(page, 'projects with a shared one')

  // A new role is seen without a reload: here by the next action that is refused or allowed.
  const path = `${membersOf(owner.projectId)}/${viewer.memberId}`
  await owner.call('PATCH', path, { role: 'editor' })
  await page.goto(`${site.url}/console/assistants/${assistantId}?tab=publish`)
  await page.getByRole('radio', { name: 'Everybody', exact: true }).check()
  await page.getByText('Your role in this project is Editor', { exact: false }).waitFor()
  expect(await page.getByLabel('Most answers a day').getAttribute('readonly')).not.toBeNull()
  await page.getByRole('tab', { name: 'Settings' }).click()
  await page.getByLabel('Instructions').waitFor()
  expect(await page.getByLabel('Project', { exact: true }).count()).toBe(0)
})

test('who is removed while an answer is written is told so, and led on', async () => {
  const { owner } = await harbour()
  const grace = await joinProject(site.service, owner.projectId, 'member')
  const page = await site.newPage(grace.token)
  await page.goto(`${site.url}/console/chat`)
  let release = () => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  site.model.reply({ text: ['High water ', gate, 'is at noon.'] })
  await say(page, 'When is high water?')
  // Not the question.
  await page
    .getByText(/High water/)
    .last()
    .waitFor()
  await owner.delete(`${membersOf(owner.projectId)}/${grace.memberId}`)
  await page.getByText('Your access to “Harbour” has ended').waitFor()
  release()
  // What was read stays; nothing more can be sent.
  await page.getByText('When is high water?').first().waitFor()
  await expect.poll(() => page.getByRole('textbox', { name: 'Message', exact: true }).count()).toBe(0)
  await site.expectAccessible(page, 'a chat whose access has ended')
  await page.getByRole('button', { name: 'Go to “main”' }).click()
  await page.getByRole('button', { name: 'Project: main' }).waitFor()
  await expect.poll(() => page.getByText('Your access to', { exact: false }).count()).toBe(0)
})

test('a chat is shared with the project: read by its members, then continued, with their names', async () => {
  const { owner, assistantId } = await harbour()
  const grace = await joinProject(site.service, owner.projectId, 'member')
  await named(grace, 'Grace', 'Hopper')
  const thread = await owner.post('/threads/', { name: 'Tides', assistant_id: assistantId })
  const chat = `${site.url}/console/chat/${thread.thread_id}`
  let page = await site.newPage(owner.token)
  await page.goto(chat)
  site.model.reply({ text: 'High water is at noon.' })
  await say(page, 'When is high water?')
  await page.getByText('High water is at noon.').first().waitFor()
  await page.getByRole('button', { name: 'Actions for Tides' }).click()
  await page.getByRole('menuitem', { name: 'Share…' }).click()
  const dialog = dialogOf(page)
  expect(await dialog.getByRole('radio', { name: 'Only you' }).isChecked()).toBe(true)
  await dialog.getByRole('radio', { name: 'Everybody in this project can read it' }).check()
  await page.getByText('The project can read this chat now.').waitFor()
  await dialog.getByText('Grace Hopper').waitFor()
  await site.expectAccessible(page, 'who sees a chat')
  await page.close()

  page = await site.newPage(grace.token)
  await page.goto(`${site.url}/console/chat`)
  await page.getByRole('link', { name: /^Tides\s+by Ada Lovelace$/ }).click()
  await page.getByRole('article', { name: 'Ada Lovelace' }).waitFor()
  await page.getByText('Ada Lovelace has shared this chat for reading.', { exact: false }).waitFor()
  expect(await page.getByRole('textbox', { name: 'Message', exact: true }).count()).toBe(0)
  await page.getByRole('button', { name: 'Actions for Tides' }).click()
  expect(await page.getByRole('menuitem', { name: 'Share…' }).count()).toBe(0)
  await page.keyboard.press('Escape')
  await site.expectAccessible(page, 'a chat of somebody else')
  await owner.call('PUT', `/threads/${thread.thread_id}`, { project_access: 'continue' })
  await page.reload()
  site.model.reply({ text: 'Low water is at six.' })
  await say(page, 'And low water?')
  await page.getByText('Low water is at six.').first().waitFor()
  await page.getByRole('article', { name: 'Grace Hopper' }).getByText('And low water?').waitFor()
  await site.expectAccessible(page, 'a chat that all continue')
})

test('the project is given to another owner', async () => {
  const { owner } = await harbour()
  const grace = await joinProject(site.service, owner.projectId, 'owner')
  await named(grace, 'Grace', 'Hopper')
  const page = await site.newPage(owner.token)
  await page.goto(`${site.url}/console/projects/${owner.projectId}/people`)
  await page.getByRole('button', { name: 'Give the project to Grace Hopper' }).click()
  await dialogOf(page).getByRole('button', { name: 'Give it away' }).click()
  await page.getByText('Grace Hopper holds the project now.').waitFor()
  await page.getByText('It is Grace Hopper’s project. Your role is Owner.', { exact: false }).waitFor()
  await page.getByRole('button', { name: 'Leave the project' }).waitFor()
})

test('a group is added with a role, shown by its name, changed and removed', async () => {
  const { owner, assistantId } = await harbour()
  const operator = apiClient(site.service.url, site.service.env['ADMIN_TOKEN'])
  const newGroup = async (name: string) =>
    String((await operator.post('/admin/groups', { name, listed: true })).group_id)
  let page = await site.newPage(owner.token)
  const address = `${site.url}/console/projects/${owner.projectId}/people`
  await page.goto(address)
  await page.getByRole('list', { name: 'Members' }).waitFor()
  // Where there are no groups, nothing is said about them.
  await page.waitForLoadState('networkidle')
  expect(await page.getByRole('heading', { name: 'Add a group' }).count()).toBe(0)

  const pilots = await newGroup('Pilots')
  const nameless = await newGroup('6f9619ff-8b86-4d01-b42d-00cf4fc964ff')
  const pilot = await insertUser(site.service)
  await operator.post(`/admin/groups/${pilots}/members`, { user_id: pilot.userId })
  await page.goto(address)
  await page.getByRole('heading', { name: 'Add a group' }).waitFor()
  const members = page.getByRole('list', { name: 'Members' })
  const add = async (label: string, role: string) => {
    await page.getByLabel('Group', { exact: true }).selectOption(`${label} · made by operators`)
    await page.getByLabel('Role of the group').selectOption(role)
    await page.getByRole('button', { name: 'Add the group' }).click()
    await page.getByText(`${label} now uses the project, with the role ${role}.`).waitFor()
    await members.getByText(label).waitFor()
  }
  await add('Pilots', 'Viewer')
  await add('Group without a name (…64ff)', 'Owner')
  await page.getByText('All groups that you can see use this project already.').waitFor()
  expect(await page.locator('body').innerText()).not.toMatch(new RegExp(`6f9619ff|${pilots}|${nameless}`))
  // A group cannot hold a project.
  expect(await page.getByRole('button', { name: /^Give the project/ }).count()).toBe(0)
  await site.expectAccessible(page, 'people with groups')
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [1440, 390]) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 1400 })
      await look(page, `people-groups-${colorScheme}-${width}`)
    }
  if (process.env['LOOK']) {
    await page.evaluate(() => localStorage.setItem('assistant-platform.language', 'de'))
    await page.reload()
    await page.getByRole('heading', { name: 'Eine Gruppe hinzufügen' }).waitFor()
    await look(page, 'people-groups-german-390')
    await page.setViewportSize({ width: 1440, height: 1400 })
    await look(page, 'people-groups-german-1440')
    await page.evaluate(() => localStorage.setItem('assistant-platform.language', 'en'))
    await page.reload()
    await members.waitFor()
  }
  await page.setViewportSize({ width: 1280, height: 720 })

  await members.getByLabel('Role of Pilots').selectOption('Owner')
  await page.getByText('Pilots now has the role Owner.').waitFor()
  // Who owns by a group alone is asked before the group's role changes, and learns how to leave.
  const other = await site.newPage(await tokenOf(site.service, pilot.userId, owner.projectId))
  await other.goto(address)
  await other.getByText('You use this project through a group.', { exact: false }).waitFor()
  expect(await other.getByRole('button', { name: 'Leave the project' }).count()).toBe(0)
  await other.getByLabel('Role of Pilots').selectOption('Viewer')
  await dialogOf(other).getByText('Change the role of Pilots?').waitFor()
  await dialogOf(other).getByRole('button', { name: 'Change it' }).click()
  await other.getByText('Owners invite people, change roles and remove members.', { exact: false }).waitFor()
  await other.close()
  await page.close()
  page = await site.newPage(owner.token)

  // Who sees a shared chat: groups, too.
  const thread = await owner.post('/threads/', { name: 'Tides', assistant_id: assistantId })
  await owner.call('PUT', `/threads/${thread.thread_id}`, { visibility: 'project', project_access: 'read' })
  await page.goto(`${site.url}/console/chat/${thread.thread_id}`)
  await page.getByRole('button', { name: 'Actions for Tides' }).click()
  await page.getByRole('menuitem', { name: 'Share…' }).click()
  await dialogOf(page).getByText('Pilots', { exact: true }).waitFor()

  await page.goto(address)
  await page.getByRole('button', { name: 'Remove Pilots' }).click()
  await dialogOf(page).getByText('Whoever uses this project through Pilots alone', { exact: false }).waitFor()
  expect(await dialogOf(page).getByRole('radio').count()).toBe(0)
  await dialogOf(page).getByRole('button', { name: 'Remove' }).click()
  await page.getByText('Pilots does not use this project any more.').waitFor()
  expect((await owner.get(membersOf(owner.projectId))).members).toHaveLength(2)
})
