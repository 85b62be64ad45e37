import { expect, test } from 'vitest'
import { useStarted } from '../support/use-started.ts'
import { look, startConsole } from './support.ts'

const site = useStarted(() => startConsole())

test('chats are found by their messages, pinned, tagged, shared, printed, and deleted together with an undo', async () => {
  const { page, user } = await site.signedIn()
  const names = ['Tides', 'Boats', 'Nets']
  const ids = new Map<string, string>()
  for (const name of names) {
    const { thread_id: id } = await user.post('/threads/', { name })
    ids.set(name, id)
    const words = `The pelican of ${name}, $x^2$, \`\`\`js\nlet ${name.toLowerCase()}\n\`\`\``
    await user.post(`/threads/${id}/state`, {
      values: [
        { type: 'human', content: `What about ${name}?` },
        { type: 'ai', content: words, id: `answer-${name}` },
      ],
    })
  }
  await page.reload()
  const list = page.getByRole('region', { name: 'Chats' })
  const search = page.getByRole('searchbox', { name: 'Search chats' })

  await search.fill('pelican boa')
  const hit = page.locator('.found-message', { hasText: 'Boats' })
  await hit.waitFor()
  expect(await page.locator('.found-message').count()).toBe(1)
  expect(await hit.locator('mark').allTextContents()).toEqual(['pelican', 'Boats', 'boats'])
  await site.expectAccessible(page, 'found messages')
  await hit.getByRole('link').click()
  await page.locator('[data-message="answer-Boats"]:focus').waitFor()
  await search.fill('')

  const act = async (name: string, action: string) => {
    await page.getByRole('button', { name: `Actions for ${name}` }).click()
    await page.getByRole('menuitem', { name: action }).click()
  }
  await act('Nets', 'Pin')
  await page.getByRole('heading', { name: 'Pinned' }).waitFor()
  expect(await list.getByRole('link').first().textContent()).toBe('Nets')
  await act('Tides', 'Tags…')
  await page.getByRole('textbox', { name: 'Tags' }).fill('sea, Work')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'sea' }).click()
  await expect.poll(() => list.getByRole('link').allTextContents()).toEqual(['Tides'])
  await page.getByRole('button', { name: 'sea' }).click()
  await expect.poll(() => list.getByRole('link').count()).toBe(3)

  await act('Boats', 'Share…')
  await page.getByRole('button', { name: 'Make a link' }).click()
  const link = await page.getByRole('textbox', { name: 'Link' }).inputValue()
  await site.expectAccessible(page, 'the dialog of a link')
  await page.mouse.move(1, 1)
  await page.evaluate('document.activeElement.blur()')
  expect(await page.evaluate("getComputedStyle(document.querySelector('.dialog-head > button')).opacity")).toBe('1')
  await page.keyboard.press('Escape')
  const stranger = await site.context.newPage()
  const path = new URL(link).pathname
  await stranger.goto(`${site.url}${path}`)
  await stranger.getByRole('heading', { name: 'Boats', exact: true }).waitFor()
  await stranger.locator('math').waitFor()
  await site.expectAccessible(stranger, 'a shared chat')
  await act('Boats', 'Share…')
  await page.getByText(/read 1 time/).waitFor()
  await page.keyboard.press('Escape')
  await page.goto(`${site.url}/console/account`)
  const shares = page.locator('section', { has: page.getByRole('heading', { name: 'Shared chats of this project' }) })
  await shares.getByText('Boats').waitFor()
  await shares.getByRole('button', { name: 'Revoke the link' }).click()
  await shares.getByText('None.').waitFor()
  await site.expectAccessible(page, 'the account without links')
  await page.goBack()
  await stranger.reload()
  await stranger.getByRole('heading', { name: 'Nothing is shared here' }).waitFor()
  await stranger.close()

  const opened = site.context.waitForEvent('page')
  await act('Boats', 'Print or save as PDF')
  const print = await opened
  await print.getByRole('button', { name: 'Print or save as PDF' }).waitFor()
  await print.locator('math').waitFor()
  await site.expectAccessible(print, 'a chat to print')
  const pdf = await print.pdf()
  expect(pdf.subarray(0, 5).toString()).toBe('%PDF-')
  await print.emulateMedia({ media: 'print' })
  expect(await print.getByRole('button').count()).toBe(0)
  expect(await print.locator('main').innerText()).toContain('let boats')
  await print.close()

  // By the browser's own command: the chat, without the console around it.
  await list.getByRole('link', { name: 'Boats' }).click()
  await page.locator('.chat').getByText('What about Boats?').waitFor()
  await page.emulateMedia({ media: 'print' })
  expect(await page.locator('.chat').innerText()).toContain('let boats')
  for (const around of [list, search, page.getByRole('textbox', { name: 'Message', exact: true })])
    expect(await around.isVisible()).toBe(false)
  expect(await page.locator('.chat').getByRole('button').count()).toBe(0)
  await look(page, 'printed-from-the-chat')
  await page.emulateMedia({ media: 'screen' })

  // An archive without chats has nothing to search in or to choose from.
  await page.getByRole('button', { name: 'Show archived chats' }).click()
  await page.getByText('No archived chats.').waitFor()
  for (const gone of [
    search,
    page.getByRole('button', { name: 'sea' }),
    page.getByRole('button', { name: 'New folder' }),
  ])
    expect(await gone.count()).toBe(0)
  const head = await page.getByRole('heading', { name: 'Archived chats' }).boundingBox()
  expect(head?.height).toBeLessThan(25)
  await page.getByRole('button', { name: 'Back to the chats' }).click()

  // Archived: out of the list, in one of its own, and back.
  await page.getByRole('button', { name: 'Actions for Boats' }).click()
  await page.getByRole('menuitem', { name: 'Archive' }).click()
  await page.getByText('1 chat is archived.').waitFor()
  await expect.poll(() => list.getByRole('link', { name: 'Boats' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Show archived chats' }).click()
  await list.getByRole('link', { name: 'Boats' }).click()
  await page.getByText('This chat is archived').waitFor()
  expect(await list.getByRole('link').allTextContents()).toEqual(['Boats'])
  await site.expectAccessible(page, 'archived chats')
  await look(page, 'archived')
  await page.locator('.notice').getByRole('button', { name: 'Take out of the archive' }).click()
  await page.getByText('This chat is archived').waitFor({ state: 'detached' })
  await page.getByText('No archived chats.').waitFor()
  await page.getByRole('button', { name: 'Back to the chats' }).click()
  await list.getByRole('link', { name: 'Boats' }).waitFor()

  const choose = async (...chosen: string[]) => {
    await page.getByRole('button', { name: 'Choose several chats' }).click()
    for (const name of chosen) await page.getByRole('checkbox', { name }).check()
    await site.expectAccessible(page, 'the choice of chats')
    await list.getByRole('button', { name: 'Delete' }).click()
  }
  await page.clock.install()
  await choose('Tides', 'Nets')
  expect(await list.getByRole('link').allTextContents()).toEqual(['Boats'])
  await page.locator('.toast', { hasText: 'deleted' }).getByRole('button', { name: 'Undo' }).click()
  await expect.poll(() => list.getByRole('link').count()).toBe(3)
  await page.clock.runFor(11_000)
  expect((await user.get('/threads/')).total).toBe(3)

  await choose('Tides', 'Nets')
  await user.call('DELETE', `/threads/${ids.get('Nets')}`)
  await page.clock.runFor(11_000)
  await page.getByText('1 of 2 could not be deleted').waitFor()
  await expect.poll(async () => (await user.get('/threads/')).total).toBe(1)

  // Whoever closes the page has decided.
  await choose('Boats')
  await page.goto(`${site.url}/icon.svg`)
  await expect.poll(async () => (await user.get('/threads/')).total).toBe(0)
})
