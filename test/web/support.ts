import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { BrowserContext, Locator, Page } from 'playwright-core'
import { expect, inject, onTestFinished } from 'vitest'
import { startBrowser } from '../support/browser.ts'
import { startScriptedModel } from '../support/scripted-model.ts'
import { startService } from '../support/service.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { insertUser } from '../support/users.ts'

const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
/** A busy machine takes its time over a page; what hangs takes for ever. */
const timeoutMs = 60_000

/** With LONG_TASKS, tests print the longest tasks of the pages instead of looking at their accessibility. */
const longTasks = Boolean(process.env['LONG_TASKS'])

const images = path.join(import.meta.dirname, '../../docs/images')

interface PictureOptions {
  size?: { width: number; height: number }
  /** What has to go away first. */
  without?: Locator
}

/** Chromium before the console of a service of its own, behind a proxy that can cut the network. */
export async function startConsole(env: Record<string, string> = {}) {
  const model = await startScriptedModel()
  const service = await startService({ env: { ...model.env, MAILBOX_URL: inject('services').mailboxUrl, ...env } })
  const proxy = await startTcpProxy(new URL(service.url).host)
  const browser = await startBrowser()
  const url = `http://${proxy.address}`
  // Keeps the process of the pages, with the scripts that it has compiled, from one test to the next.
  await (await browser.context.newPage()).goto(`${url}/icon.svg`)
  const axe = await readFile(axeFile, 'utf8')
  const problems: string[] = []
  const watched = longTasks && !isTracing ? await watchTasks(browser.context) : undefined
  let users = 0

  async function newPage(token?: string): Promise<Page> {
    const page = await browser.context.newPage()
    page.setDefaultTimeout(timeoutMs)
    watched?.begin(expect.getState().currentTestName ?? '')
    // What runs on in a page that nobody looks at any more takes a tenth of the processor time of these tests.
    onTestFinished(async ({ task }) => {
      if (task.result?.state === 'fail') await describePage(page)
      await page.close()
    })
    page.on('pageerror', (error) => problems.push(`page error: ${error.message}`))
    page.on('console', (message) => {
      if (message.type() === 'error' && !isExpected(message.text())) problems.push(message.text())
    })
    await page.goto(`${url}/icon.svg`)
    await page.evaluate((given) => {
      localStorage.clear()
      sessionStorage.clear()
      if (given) localStorage.setItem('assistant-platform.session', given)
    }, token)
    return page
  }

  return {
    url,
    model,
    service,
    proxy,
    context: browser.context,
    newPage,
    /** A user who is logged in, with an assistant, on the page of a new chat. */
    async signedIn(config: object = {}) {
      const user = await insertUser(service)
      users += 1
      const email = users === 1 ? 'ada@example.com' : `ada.${users}@example.com`
      const person = { first_name: 'Ada', last_name: 'Lovelace', email }
      await service.collections.users.updateOne({ _id: user.userId }, { $set: person })
      const assistant = await user.post('/assistants/', { name: 'Harbour guide', config })
      const page = await newPage(user.token)
      await page.goto(`${url}/console/chat`)
      await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor()
      return { user, page, assistantId: String(assistant.assistant_id) }
    },
    /**
     * Fails for what axe finds on the page: roles, names, contrast, and what else machines can see. Keeps a picture of
     * it, too.
     */
    async expectAccessible(page: Page, what: string) {
      // Dialogs appear slowly, and after a change of the colour scheme colours pass into each other. Spinners never end.
      // States are asked, not `finished`: in a closed <details> the browser skips frames, and that promise never settles.
      await page.evaluate(`(async () => {
        const running = ({ effect, playState }) => playState === 'running' && effect.getComputedTiming().endTime < Infinity
        do for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame)
        while (document.getAnimations().some(running))
      })()`)
      await look(page, what.replaceAll(/\W+/g, '-'))
      if (longTasks) return
      await page.evaluate(axe)
      const found = await page.evaluate<string[]>(`axe
        .run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] })
        .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target).join(', ')))`)
      expect(found, what).toEqual([])
    },
    /** Keeps a picture for the documentation when SCREENSHOTS is set. */
    async picture(page: Page, name: string, { size, without }: PictureOptions = {}) {
      if (!process.env['SCREENSHOTS']) return
      await mkdir(images, { recursive: true })
      // Notes about what was done before lie over the page for some seconds.
      for (const passing of [page.locator('.toast'), without])
        await expect.poll(() => passing?.count() ?? 0, { timeout: 2 * timeoutMs }).toBe(0)
      const before = page.viewportSize()
      await page.setViewportSize(size ?? { width: 1280, height: 720 })
      await page.screenshot({ path: path.join(images, `${name}.png`), animations: 'disabled' })
      if (before) await page.setViewportSize(before)
    },
    /** What the browser complained about so far: a policy that was broken, an error that nobody caught. */
    problems,
    async close() {
      await watched?.print()
      await browser.close()
      await proxy.close()
      await service.close()
      await model.close()
      expect(problems).toEqual([])
    },
  }
}

export type Console = Awaited<ReturnType<typeof startConsole>>

/** Refusals are shown by the page; the browser writes each into its log too. */
function isExpected(text: string): boolean {
  return /Failed to load resource|net::ERR_|ERR_CONNECTION|ERR_EMPTY_RESPONSE/.test(text)
}

/** Prints what a page shows, for the reader of a test that failed. */
async function describePage(page: Page): Promise<void> {
  if (page.isClosed()) return
  const script = '(document.activeElement?.outerHTML ?? "").slice(0, 300) + "\\n" + document.body.innerText'
  const shown = await Promise.race([
    page.evaluate<string>(script).catch(String),
    pause(10_000, 'nothing: a script that it runs does not end'),
  ])
  console.log(`The page ${page.url()} showed, after the element with the focus:\n${shown.slice(0, 4000)}`)
}

/** Keeps a picture to look at, in the folder that LOOK names. */
export async function look(page: Page, name: string): Promise<void> {
  const folder = process.env['LOOK']
  if (!folder) return
  await mkdir(folder, { recursive: true })
  await page.screenshot({ path: path.join(folder, `${name}.png`), animations: 'disabled' })
}

export async function say(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill(text)
  await page.keyboard.press('Enter')
}

interface TraceEvent {
  name: string
  ph: string
  pid: number
  tid: number
  /** Of the machine's clock, in microseconds. */
  ts: number
  /** Processor time, in microseconds. */
  tdur?: number
  args: Record<string, unknown>
}

/**
 * What the page's main thread did meanwhile: the processor time of each of its tasks, in ms, longest first. Processor time
 * is the same on a machine that does other things at the same time.
 */
export async function tasksDuring(page: Page, action: () => Promise<unknown>): Promise<number[]> {
  if (longTasks) return [await Promise.resolve(action()).then(() => 0)]
  const end = await traceTasks(page)
  let tasks: TraceEvent[] = []
  try {
    await action()
  } finally {
    tasks = await end()
  }
  expect(tasks.length).toBeGreaterThan(10)
  return tasks.map(({ tdur = 0 }) => tdur / 1000).toSorted((a, b) => b - a)
}

/**
 * Prints the longest tasks of all pages, with the test that was running: no test of accessibility, which makes such
 * tasks.
 */
async function watchTasks(context: BrowserContext) {
  const end = await traceTasks(await context.newPage())
  const tests: { from: number; name: string }[] = []
  return {
    begin: (name: string) => tests.push({ from: Number(process.hrtime.bigint() / 1000n), name }),
    async print() {
      const tasks = (await end()).toSorted((a, b) => (b.tdur ?? 0) - (a.tdur ?? 0))
      for (const { tdur = 0, ts } of tasks.slice(0, 3)) {
        const name = tests.findLast(({ from }) => from <= ts)?.name
        console.log(`task of ${Math.round(tdur / 1000)} ms: ${name}`)
      }
    },
  }
}

/** A browser traces once at a time, all its pages. */
let isTracing = false

/** Until the returned function is called: the tasks of the main threads of all pages. */
async function traceTasks(page: Page): Promise<() => Promise<TraceEvent[]>> {
  isTracing = true
  const devtools = await page.context().newCDPSession(page)
  const events: TraceEvent[] = []
  devtools.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])))
  const complete = new Promise((resolve) => devtools.once('Tracing.tracingComplete', resolve))
  const includedCategories = ['toplevel', 'devtools.timeline', '__metadata', 'disabled-by-default-devtools.timeline']
  await devtools.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig: { includedCategories } })
  return async () => {
    await devtools.send('Tracing.end')
    await complete
    isTracing = false
    await devtools.detach()
    const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`
    const isMain = ({ name, args }: TraceEvent) => name === 'thread_name' && args['name'] === 'CrRendererMain'
    const main = new Set(events.filter(isMain).map(threadOf))
    return events.filter((event) => event.name === 'RunTask' && event.ph === 'X' && main.has(threadOf(event)))
  }
}
