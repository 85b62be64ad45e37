import { expect, test } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { allEvents } from '../support/sse.ts'
import { useStarted } from '../support/use-started.ts'
import { look, say, startConsole } from './support.ts'

const site = useStarted(() => startConsole())

test('an owner reads what visitors ask, what they think of answers, and makes test questions of open ones', async () => {
  const { page, user, assistantId } = await site.signedIn({ 'type==agent/access_mode': 'public_no_auth' })
  await page.goto(`${site.url}/console/assistants/${assistantId}?tab=insights`)
  await page.getByText('You do not see them.').waitFor()
  await page.getByRole('tab', { name: 'Publish' }).click()
  await page.getByLabel('Read the chats of visitors').check()
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()

  const visitor = apiClient(site.service.url, undefined)
  const ask = async (content: string) => {
    site.model.reply({ text: 'I do not know.' })
    const body = { assistant_id: assistantId, input: [{ type: 'human', content }] }
    const events = await allEvents(await visitor.fetch('POST', '/public/runs/stream', body))
    const metadata = JSON.parse(events.find(({ event }) => event === 'metadata')?.data ?? '{}')
    const feedback = { score: 0, value: 'incomplete', comment: 'The price of the night is missing.' }
    await visitor.call('POST', `/public/runs/${metadata.run_id}/feedback`, feedback)
  }
  await ask('What does a berth cost in summer?')
  await ask('What does a berth cost in summer and in winter?')
  const form = new FormData()
  form.append('files', new Blob(['A berth costs 30 a night.'], { type: 'text/markdown' }), 'fees.md')
  await fetch(`${site.service.url}/assistants/${assistantId}/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${user.token}` },
    body: form,
  })

  await page.getByRole('tab', { name: 'Feedback' }).click()
  await page.reload()
  await page.getByText('2 × disliked').waitFor()
  await page.setViewportSize({ width: 1440, height: 1100 })
  await site.expectAccessible(page, 'insights')
  await look(page, 'insights-1440')
  await page.getByRole('button', { name: /Make it a test question/ }).click()
  await page.getByLabel('Answered by').selectOption('fees.md')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByText('Added to the test questions.').waitFor()
  const { questions } = await user.get(`/assistants/${assistantId}/evaluation`)
  expect(questions).toMatchObject([
    { question: 'What does a berth cost in summer and in winter?', file_name: 'fees.md' },
  ])
  await page.getByRole('button', { name: /Read.*cost in summer\?/ }).click()
  await page.getByRole('dialog').getByText('I do not know.').waitFor()
  await site.expectAccessible(page, 'a chat of a visitor')
  await page.keyboard.press('Escape')

  await page.evaluate(`localStorage.setItem('assistant-platform.theme', 'dark')`)
  await page.evaluate(`localStorage.setItem('assistant-platform.language', 'de')`)
  await page.setViewportSize({ width: 390, height: 844 })
  await page.reload()
  await page.getByText('2 × gefiel nicht').waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
  await site.expectAccessible(page, 'insights (dark)')
  await look(page, 'insights-390-de-dark')
})

test('a thumb down asks for a reason, which the owner reads', async () => {
  const { page, user, assistantId } = await site.signedIn()
  site.model.reply({ text: 'High water is at noon.' })
  await say(page, 'When is high water?')
  await page.locator('.markdown', { hasText: 'High water is at noon.' }).waitFor()
  await page.getByRole('button', { name: 'Bad answer' }).click()
  await page.getByLabel('It is wrong').check()
  await page.getByLabel('In your words (optional)').fill('It was at two.')
  await site.expectAccessible(page, 'the reason of a thumb')
  await look(page, 'thumb-reason')
  await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click()
  await expect
    .poll(async () => (await user.get(`/assistants/${assistantId}/insights/feedback`))[0])
    .toMatchObject({
      by_visitor: false,
      score: 0,
      reason: 'wrong',
      comment: 'It was at two.',
      question: 'When is high water?',
    })
})

test('the public page says that the chat is read, and takes a thumb', async () => {
  const { page, user, assistantId } = await site.signedIn({
    'type==agent/access_mode': 'public_no_auth',
    'type==agent/public_page': true,
    'type==agent/keeps_chats': true,
  })
  await page.goto(`${site.url}/a/${assistantId}`)
  await page.getByText('Whoever offers this chat can read it.').waitFor()
  site.model.reply({ text: 'High water is at noon.' })
  await page.getByRole('textbox', { name: 'Message' }).fill('When?')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Good answer' }).click()
  await page.getByText('Thank you.').waitFor()
  await look(page, 'kept-page')
  expect(await user.get(`/assistants/${assistantId}/insights/feedback`)).toMatchObject([
    { by_visitor: true, score: 1, question: 'When?' },
  ])
})
