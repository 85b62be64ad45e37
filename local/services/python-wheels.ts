import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { findOnPath, run } from './command.ts'

/** Longer than a slow line needs for 91 MB. */
const limitMs = 10 * 60_000

/**
 * Fetches the wheels that a file of requirements names, with their checksums, and unpacks them into `target`. Nothing of
 * them is executed; `platform` is that of the wheels, by default any.
 */
export async function unpackWheels(requirements: string, target: string, platform: string[]): Promise<void> {
  const python = (await findOnPath('python3')) ?? (await findOnPath('python'))
  if (!python) throw new Error('no python3 on PATH')
  const folder = `${target}.wheels`
  try {
    const pip = await withPip(python, path.join(folder, 'venv'))
    const which = ['--only-binary', ':all:', ...platform, '--no-deps', '--require-hashes']
    // Without a network the start must not wait for many attempts.
    const quiet = ['--quiet', '--disable-pip-version-check', '--retries', '1', '--timeout', '15']
    const download = ['-m', 'pip', 'download', ...quiet, ...which, '--dest', folder, '--requirement', requirements]
    await run(pip, download, { timeoutMs: limitMs })
    const wheels = (await readdir(folder)).filter((name) => name.endsWith('.whl'))
    if (wheels.length === 0) throw new Error('pip has fetched no package')
    for (const wheel of wheels) await run(python, ['-m', 'zipfile', '-e', path.join(folder, wheel), target])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Some systems have Python without pip, but with what installs it into a folder. */
async function withPip(python: string, folder: string): Promise<string> {
  const has = await run(python, ['-m', 'pip', '--version']).then(
    () => true,
    () => false,
  )
  if (has) return python
  await run(python, ['-m', 'venv', folder])
  return path.join(folder, 'bin', 'python')
}
