import { expect, test } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { useStarted } from '../support/use-started.ts'
import { say, startConsole } from './support.ts'

const site = useStarted(() => startConsole())

test('the console speaks the language of the browser, and the one that the account chose', async () => {
  const german = await site.context.browser()?.newContext({ locale: 'de-AT' })
  const stranger = await german?.newPage()
  await stranger?.goto(`${site.url}/login`)
  await stranger?.getByRole('button', { name: 'Anmelden' }).waitFor()
  expect(await stranger?.evaluate('document.documentElement.lang')).toBe('de')
  await german?.close()

  // British dates and clocks are not American ones.
  const { user, page, assistantId } = await site.signedIn()
  const { schedule_id: scheduleId } = await user.post('/schedules/', {
    assistant_id: assistantId,
    input: [{ type: 'human', content: 'Tides?' }],
    cron: '30 15 3 7 *',
    timezone: 'UTC',
  })
  for (const [locale, next] of [
    ['en-GB', /Next: 3 Jul \d{4}, 15:30/],
    ['en-US', /Next: Jul 3, \d{4}, 3:30\sPM/],
  ] as const) {
    const abroad = await site.context.browser()?.newContext({ locale, timezoneId: 'UTC' })
    const reader = await abroad?.newPage()
    await reader?.goto(`${site.url}/icon.svg`)
    await reader?.evaluate((token) => localStorage.setItem('assistant-platform.session', token), user.token)
    await reader?.goto(`${site.url}/console/schedules`)
    await reader?.getByText(next).waitFor()
    await abroad?.close()
  }
  await user.call('DELETE', `/schedules/${scheduleId}`)
  await page.getByRole('button', { name: /Your account/ }).click()
  await page.getByRole('menuitem', { name: 'Deutsch' }).click()
  await page.getByRole('textbox', { name: 'Nachricht', exact: true }).waitFor()
  expect((await user.get('/user/')).language).toBe('de')
  site.model.reply({ text: 'Guten Tag.' })
  await page.getByRole('textbox', { name: 'Nachricht', exact: true }).fill('Hallo')
  await page.keyboard.press('Enter')
  await page.getByText('Guten Tag.', { exact: true }).waitFor()
  await page.goto(`${site.url}/console/assistants/${assistantId}?tab=tools`)
  await page.getByRole('button', { name: /^Gedächtnis/ }).click()
  const shared = page.getByRole('dialog').getByLabel('Gemeinsam mit (optional)')
  expect(await shared.locator('option').allTextContents()).toEqual([
    'Dieser Assistent allein, wie üblich',
    'Dieser Assistent allein',
    'Alle Assistenten des Projekts mit diesem Werkzeug',
  ])
  await page.keyboard.press('Escape')
  const spare = await user.post('/projects/', { name: 'Spare' })
  const { jwt_token: token } = await user.get(`/projects/${spare.project_id}`)
  await apiClient(site.url, token).call('POST', '/assistants/', { name: 'Kept in it' })
  await page.goto(`${site.url}/console/projects`)
  await page.getByRole('button', { name: 'Löschen: Spare' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Löschen' }).click()
  await page.getByRole('button', { name: 'Nummer des Belegs kopieren' }).waitFor()
  expect(await page.locator('.toast').innerText()).toBe('Gelöscht.Nummer des Belegs kopieren')
  const paths = [
    'assistants',
    `assistants/${assistantId}`,
    'projects',
    'usage',
    'schedules',
    'memory',
    'audit',
    'account',
  ]
  const headings: string[] = []
  for (const path of paths) {
    await page.goto(`${site.url}/console/${path}`)
    const heading = page.locator('h1').first()
    await heading.waitFor()
    headings.push((await heading.textContent()) ?? '')
    await page.setViewportSize({ width: 360, height: 740 })
    expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(360)
    await page.setViewportSize({ width: 1280, height: 720 })
  }
  expect(headings.join('|')).not.toMatch(/Assistants|Projects|Usage|Schedules|Memory|log|Account/)
  await site.expectAccessible(page, 'the account in German')

  // Another browser of the same person.
  const elsewhere = await site.newPage(user.token)
  await elsewhere.goto(`${site.url}/console/chat`)
  await elsewhere.getByRole('textbox', { name: 'Nachricht', exact: true }).waitFor()
  await elsewhere.goto(`${site.url}/console/account`)
  await elsewhere.getByRole('combobox', { name: 'Sprache' }).selectOption('en')
  await elsewhere.getByRole('heading', { name: 'Language' }).waitFor()
  await elsewhere.goto(`${site.url}/console/chat`)
  site.model.reply({ text: 'Good day.' })
  await say(elsewhere, 'Hello')
  await elsewhere.getByText('Good day.', { exact: true }).waitFor()
})
