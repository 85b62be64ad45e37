import { expect, test } from 'vitest'
import { useStarted } from '../support/use-started.ts'
import { look, startConsole } from './support.ts'

const site = useStarted(() => startConsole())

test('a schedule is made with its meaning and next times, run at once, paused, changed and deleted', async () => {
  const { page, user } = await site.signedIn()
  await page.getByRole('link', { name: 'Schedules' }).click()
  await page.getByText('There are no schedules yet.').waitFor()
  await site.expectAccessible(page, 'no schedules')
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: '“Every weekday at 8: what is new in my files?”' }).click()
  expect(await dialog.getByLabel('Question').inputValue()).toBe('What is new in my files?')
  await dialog.getByText('At 08:00 on Monday to Friday').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'New schedule' }).click()
  await dialog.getByLabel('Note').fill('Tides of the day')
  await dialog.getByLabel('Question').fill('When is high water?')
  await dialog.getByText('At 07:00 on Monday to Friday').waitFor()
  await dialog.getByLabel('When').fill('every other tuesday')
  await dialog.getByText('This is not understood.').waitFor()
  expect(await dialog.getByRole('button', { name: 'New schedule' }).isDisabled()).toBe(true)
  await dialog.getByLabel('When').fill('every weekday at 8')
  await dialog.getByText('At 08:00 on Monday to Friday').waitFor()
  await look(page, 'schedule-in-words')
  await dialog.getByText('More', { exact: true }).click()
  await dialog.getByLabel('Times (cron expression)').fill('61 7 * * *')
  await dialog.getByText('This is not a valid expression or time zone.').waitFor()
  await dialog.getByLabel('Times (cron expression)').fill('30 6 * * MON-FRI')
  await dialog.getByLabel('Time zone').fill('Europe/Berlin')
  await dialog.getByText('At 06:30 on Monday to Friday').waitFor()
  // In the time zone of the schedule, in which its words are, too.
  await expect.poll(() => dialog.getByText(/6:30\sAM/).count()).toBe(5)
  await site.expectAccessible(page, 'a new schedule')
  // Why it failed stands above the buttons, which have just been pressed.
  await page.route('**/schedules/', (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()))
  await dialog.getByRole('button', { name: 'New schedule' }).click()
  await dialog.locator('form > [role=alert] + .row-end').waitFor()
  await page.unroute('**/schedules/')
  await dialog.getByRole('button', { name: 'New schedule' }).click()
  await page.getByText('At 06:30 on Monday to Friday (Europe/Berlin)').waitFor()
  await page.getByText(/Next: .*6:30\sAM/).waitFor()
  await site.expectAccessible(page, 'schedules')

  site.model.reply({ text: 'High water is at noon.' })
  await page.getByRole('button', { name: 'Run now: Tides of the day' }).click()
  await page.getByText('A run has begun.').waitFor()
  await page.getByRole('button', { name: 'History: Tides of the day' }).click()
  await page.getByText('High water is at noon.').waitFor()
  await page.getByText('Done', { exact: true }).waitFor()
  await site.expectAccessible(page, 'history of a schedule')
  await page.keyboard.press('Escape')

  await page.getByRole('button', { name: 'Pause: Tides of the day' }).click()
  await page.getByText('Paused', { exact: true }).waitFor()
  const [schedule] = (await user.get('/schedules/')).schedules
  expect(schedule).toMatchObject({ paused: true, cron: '30 6 * * MON-FRI', timezone: 'Europe/Berlin', next_runs: [] })

  await page.getByRole('button', { name: 'Edit: Tides of the day' }).click()
  await page.getByRole('dialog').getByLabel('Note').fill('High water')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Delete: High water' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('There are no schedules yet.').waitFor()
  expect((await user.get('/schedules/')).schedules).toEqual([])

  // Without a note it is called by its question, and so is the chat of its run.
  await page.getByRole('button', { name: '“Every weekday at 8: what is new in my files?”' }).click()
  await dialog.getByRole('button', { name: 'New schedule' }).click()
  site.model.reply({ text: 'Nothing is new.' })
  await page.getByRole('button', { name: 'Run now: What is new in my files?' }).click()
  await page.getByText('A run has begun.').waitFor()
  const names = async () => (await user.get('/threads/')).threads?.map(({ name }: { name: string }) => name)
  await expect.poll(names, { timeout: 30_000 }).toContain('What is new in my files?')
  // The pages of a browser share a session: another one would be the first to say what is new.
})

test('a result that came while nobody looked is said in the console, and listed until it was seen', async () => {
  const { page, user, assistantId } = await site.signedIn()
  // As after a look of before.
  await page.evaluate(
    (key) => localStorage.setItem(key, '{}'),
    `assistant-platform.runs-seen.${user.userId}.${user.projectId}`,
  )
  const answered = async (name: string) => {
    // An open page would say it before it is left.
    await page.goto('about:blank')
    site.model.reply({ text: 'High water is at noon.' })
    const { schedule_id: id } = await user.post('/schedules/', {
      assistant_id: assistantId,
      input: [{ type: 'human', content: 'When is high water?' }],
      note: name,
      at: new Date(Date.now() + 2000).toISOString(),
    })
    const newest = async () => (await user.get(`/schedules/${id}/runs`)).runs[0]
    await expect.poll(async () => (await newest())?.status, { timeout: 60_000 }).toBe('success')
  }
  /** It is said for some seconds, which may be over when a busy browser has loaded the page. */
  const opened = (said: string) => Promise.all([page.getByText(said).waitFor(), page.goto(`${site.url}/console/chat`)])
  await answered('Tides of the day')
  await opened('“Tides of the day” has a new answer.')
  await look(page, 'schedule-news')
  const link = page.getByRole('link', { name: /^Schedules/ })
  expect(await link.innerText()).toContain('1')
  await link.click()
  await page.getByRole('heading', { name: 'New results' }).waitFor()
  await page.setViewportSize({ width: 390, height: 844 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await site.expectAccessible(page, 'new results')
  await look(page, 'schedule-results-390-dark')
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 1440, height: 900 })
  await look(page, 'schedule-results')
  // Opened, it is seen.
  await page.locator('#main').getByRole('link', { name: 'Tides of the day' }).click()
  await page.getByText('High water is at noon.').first().waitFor()
  await expect.poll(() => link.innerText()).not.toContain('1')

  await answered('Tides of tomorrow')
  await answered('Tides of the week')
  await opened('Schedules have 2 new results.')
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await page.getByRole('heading', { name: 'New results' }).waitFor()
  await page.getByRole('button', { name: 'Clear' }).click()
  await page.getByRole('heading', { name: 'New results' }).waitFor({ state: 'detached' })
  expect(await link.innerText()).not.toContain('2')
})
