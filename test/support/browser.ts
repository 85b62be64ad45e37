import { type Browser, chromium } from 'playwright-core'
import { prepareBrowser } from '../../local/services/index.ts'

const flags = [
  '--headless',
  // Pages of one address share a process, which otherwise takes a third of the processor time of a new page.
  '--process-per-site',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // The one without windows prefers no language by itself.
  '--accept-lang=en-US,en',
]

let running: Promise<Browser> | undefined

/**
 * A new profile in the machine's Chromium (see `prepareBrowser`), headless. The browser itself is started once a
 * process, stays for the next profiles, and ends with the process.
 */
export async function startBrowser() {
  if (!(await running)?.isConnected()) running = launch()
  const browser = await running
  if (browser === undefined) throw new Error('the browser did not start')
  const context = await browser.newContext()
  return { context, close: () => context.close() }
}

async function launch(): Promise<Browser> {
  const { executablePath } = await prepareBrowser(console.log)
  return chromium.launch({ executablePath, args: flags })
}
