import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Console, startConsole } from './support.ts'

let site: Console
beforeAll(async () => {
  site = await startConsole()
})
afterAll(() => site.close())

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
  await dialog.getByLabel('Times (cron expression)').fill('61 7 * * *')
  await dialog.getByText('This is not a valid expression or time zone.').waitFor()
  await dialog.getByLabel('Times (cron expression)').fill('30 6 * * MON-FRI')
  await dialog.getByLabel('Time zone').fill('Europe/Berlin')
  await dialog.getByText('At 06:30 on Monday to Friday').waitFor()
  await expect.poll(() => dialog.getByRole('listitem').count()).toBe(5)
  await site.expectAccessible(page, 'a new schedule')
  await dialog.getByRole('button', { name: 'New schedule' }).click()
  await page.getByText('At 06:30 on Monday to Friday (Europe/Berlin)').waitFor()
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
})
