import { findOnPath, run, withTicks } from './command.ts'
import { type Log, firstThatWorks } from './ways.ts'

const variable = 'CHROMIUM_PATH'
/** The first one has no windows and takes a fifth less of the processor. */
const commands = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
/** Older distributions have only the second. */
const debianPackages = ['chromium-headless-shell', 'chromium'] as const

/**
 * Finds a Chromium for the tests that need a browser. Unlike the servers it is installed on the machine, with
 * Debian's package and only by root, because it depends on about a hundred system libraries.
 */
export async function prepareBrowser(log: Log): Promise<{ executablePath: string; source: string }> {
  const { value, source } = await firstThatWorks<string>('Chromium, for the tests in a browser,', variable, [
    { name: variable, attempt: async () => process.env[variable] || undefined },
    { name: 'PATH', attempt: onPath },
    { name: 'Debian package', attempt: () => fromDebian(log) },
  ])
  return { executablePath: value, source }
}

async function onPath(): Promise<string | undefined> {
  const found = await Promise.all(commands.map((command) => findOnPath(command)))
  return found.find((file) => file !== undefined)
}

async function fromDebian(log: Log): Promise<string | undefined> {
  if (!(await findOnPath('apt-get'))) throw new Error('no apt-get on PATH')
  if (process.getuid?.() !== 0) throw new Error(`only root may install it: apt-get install ${debianPackages[0]}`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const apt = (...args: string[]) => run('apt-get', ['-qq', ...args], { env })
  const install = async (name: string) => {
    log(`installing ${name} with apt-get`)
    const installed = apt('install', '-y', '--no-install-recommends', name)
    await withTicks(installed, (seconds) => log(`still installing ${name} (${seconds} s)`))
  }
  await apt('update')
  const [first, second] = debianPackages
  await install(first).catch(() => install(second))
  return onPath()
}
