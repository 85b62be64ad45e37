import { findOnPath, run, withTicks } from './command.ts'
import { type Log, firstThatWorks } from './ways.ts'

const variable = 'CHROMIUM_PATH'
const commands = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

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
  if (process.getuid?.() !== 0) throw new Error('only root may install it: apt-get install chromium')
  log('installing chromium with apt-get')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const apt = (...args: string[]) => run('apt-get', ['-qq', ...args], { env })
  const install = async () => {
    await apt('update')
    await apt('install', '-y', '--no-install-recommends', 'chromium')
  }
  await withTicks(install(), (seconds) => log(`still installing chromium (${seconds} s)`))
  return onPath()
}
