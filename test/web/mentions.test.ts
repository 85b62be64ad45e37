import { expect, test } from 'vitest'
import { joinProject } from '../projects/joined.ts'
import { useStarted } from '../support/use-started.ts'
import { look, startConsole } from './support.ts'

const site = useStarted(() => startConsole())

test('@ has another assistant answer, and # has a file of it searched, by keyboard', async () => {
  const { page, user, assistantId } = await site.signedIn({ 'type==agent/system_message': 'You guide ships.' })
  await page.setViewportSize({ width: 1440, height: 900 })
  const weather = await user.post('/assistants/', {
    name: 'Weather guide',
    config: { 'type==agent/system_message': 'You tell the weather.' },
  })
  const file = async (id: string, name: string) => {
    const form = new FormData()
    form.append('files', new Blob(['# Harbour\n\nThe office opens at six.'], { type: 'text/markdown' }), name)
    const { files } = await user.post(`/assistants/${id}/files`, form)
    return String(files[0].id)
  }
  await file(assistantId, 'harbour.md')
  const winds = await file(weather.assistant_id, 'winds of the bay.md')
  await page.reload()
  const field = page.getByRole('textbox', { name: 'Message', exact: true })
  site.model.reply({ text: 'At six.' })
  await field.fill('When does it open?')
  await page.keyboard.press('Enter')
  await page.locator('.markdown', { hasText: 'At six.' }).waitFor()

  await field.pressSequentially('@')
  const list = page.getByRole('listbox', { name: 'Assistants' })
  await list.waitFor()
  expect(await list.getByRole('option').count()).toBe(2)
  await site.expectAccessible(page, 'the list of assistants')
  await look(page, 'mentions-light')
  await page.keyboard.press('Escape')
  await list.waitFor({ state: 'detached' })
  await page.keyboard.press('Backspace')
  await field.pressSequentially('@weat')
  await list.waitFor()
  const active = await field.getAttribute('aria-activedescendant')
  expect(await page.locator(`[id="${active}"]`).innerText()).toContain('Weather guide')
  await page.keyboard.press('Enter')
  expect(await field.inputValue()).toBe('@Weather guide ')
  expect(await field.getAttribute('aria-activedescendant')).toBeNull()
  // Files are those of the assistant that is to answer.
  await field.pressSequentially('how is the wind? #')
  const files = page.getByRole('listbox', { name: 'Files of the assistant' })
  await files.waitFor()
  expect(await files.getByRole('option').allInnerTexts()).toEqual([expect.stringContaining('winds of the bay.md')])
  await page.keyboard.press('Tab')
  expect(await field.inputValue()).toBe('@Weather guide how is the wind? #winds of the bay.md ')
  const asked = site.model.reply({ text: 'Strong.' })
  await page.keyboard.press('Enter')
  const { messages } = (await asked.arrived).body
  expect(messages[0]?.content).toContain('You tell the weather.')
  expect(messages[0]?.content).toContain('Only these are searched: "winds of the bay.md".')
  expect(messages.at(-1)?.content).toBe('@Weather guide how is the wind? #winds of the bay.md')
  await page.locator('.markdown', { hasText: 'Strong.' }).waitFor()
  const threadId = page.url().split('/').at(-1)
  const { runs } = await user.get(`/threads/${threadId}/runs`)
  expect(runs[0].assistant_id).toBe(weather.assistant_id)
  const run = await site.service.collections.runs.findOne({ _id: runs[0].run_id, thread_id: threadId ?? '' }).lean()
  expect(run?.overrides.search_json).toContain(winds)

  // The next question is the chat's own assistant's again; a name that was taken out does not count.
  const next = site.model.reply({ text: 'It is.' })
  await field.pressSequentially('@weather')
  await list.waitFor()
  await page.keyboard.press('Enter')
  await field.fill('Is it open?')
  await page.keyboard.press('Enter')
  expect((await next.arrived).body.messages[0]?.content).toContain('You guide ships.')
})

test('in a new chat @ chooses who answers; German, dark, on a phone', async () => {
  const { page, user } = await site.signedIn()
  await user.post('/assistants/', { name: 'Wetter', config: { 'type==agent/system_message': 'Vom Wetter.' } })
  await page.evaluate(() => {
    localStorage.setItem('assistant-platform.language', 'de')
    localStorage.setItem('assistant-platform.theme', 'dark')
  })
  await page.setViewportSize({ width: 390, height: 844 })
  await page.reload()
  const field = page.getByRole('textbox', { name: 'Nachricht', exact: true })
  await field.pressSequentially('@We')
  await page.getByRole('listbox', { name: 'Assistenten' }).waitFor()
  await site.expectAccessible(page, 'the list of assistants on a phone')
  await look(page, 'mentions-390-dark-german')
  await page
    .getByRole('listbox')
    .getByRole('option', { name: /Wetter/ })
    .click()
  await field.pressSequentially('wie ist es?')
  const asked = site.model.reply({ text: 'Gut.' })
  await page.getByRole('button', { name: 'Senden' }).click()
  expect((await asked.arrived).body.messages[0]?.content).toContain('Vom Wetter.')
  await page.locator('.markdown', { hasText: 'Gut.' }).waitFor()
})

test('a prompt is shared with the project, found by / by others, and changed by editors', async () => {
  const { page, user } = await site.signedIn()
  await page.setViewportSize({ width: 1440, height: 900 })
  await user.post('/user/prompts', { name: 'Ship log', text: 'Write the log.' })
  const field = page.getByRole('textbox', { name: 'Message', exact: true })
  const manage = async (on = page) => {
    await on.getByRole('textbox', { name: 'Message', exact: true }).fill('/')
    await on.getByRole('listbox').getByRole('option').last().click()
  }
  await manage()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Share with this project: Ship log' }).click()
  await dialog.getByText('shared', { exact: true }).waitFor()
  // What is said lies over the dialog.
  await page.locator('.toasts:popover-open').getByText('Everybody in this project').waitFor()
  await site.expectAccessible(page, 'prompts')
  await look(page, 'prompts-shared')
  await page.keyboard.press('Escape')
  await field.fill('')

  const editor = await joinProject(site.service, user.projectId, 'editor')
  const theirs = await site.newPage(editor.token)
  await theirs.goto(`${site.url}/console/chat`)
  await theirs.getByRole('textbox', { name: 'Message', exact: true }).fill('/ship')
  await theirs
    .getByRole('listbox')
    .getByRole('option', { name: /Ship log/ })
    .click()
  expect(await theirs.getByRole('textbox', { name: 'Message', exact: true }).inputValue()).toBe('Write the log.')
  await manage(theirs)
  await theirs.getByRole('heading', { name: 'Of this project' }).waitFor()
  await theirs.getByRole('button', { name: 'Edit: Ship log' }).click()
  await theirs.getByRole('textbox', { name: 'Text', exact: true }).fill('Write the log of today.')
  await theirs.getByRole('button', { name: 'Save' }).click()
  await theirs.getByText('Write the log of today.').waitFor()
  await look(theirs, 'prompts-of-project')
  await expect.poll(() => user.get('/user/prompts')).toMatchObject([{ text: 'Write the log of today.' }])

  const viewer = await joinProject(site.service, user.projectId, 'viewer')
  expect(await viewer.get('/prompts/')).toMatchObject([{ name: 'Ship log' }])
})
