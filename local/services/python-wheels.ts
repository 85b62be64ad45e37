import { mkdir, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { findOnPath, run } from './command.ts'

/** Longer than a slow line needs for 91 MB. */
const limitMs = 10 * 60_000

/**
 * Fetches the wheels that a file of requirements names, with their checksums, and unpacks them into `target`. Nothing of
 * them is executed; `platform` is that of the wheels, by default any. Those that `others` puts into the folder that it
 * is given take the place of wheels of the same packages.
 */
export async function unpackWheels(
  requirements: string,
  target: string,
  { platform = [], others }: { platform?: string[]; others?: (folder: string) => Promise<unknown> } = {},
): Promise<void> {
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
    const fetched = await wheelsIn(folder)
    if (fetched.length === 0) throw new Error('pip has fetched no package')
    const otherFolder = path.join(folder, 'others')
    await mkdir(otherFolder)
    await others?.(otherFolder)
    const instead = await wheelsIn(otherFolder)
    const packages = new Set(instead.map(packageOf))
    const kept = fetched.filter((wheel) => !packages.has(packageOf(wheel)))
    const all = [...kept.map((name) => path.join(folder, name)), ...instead.map((name) => path.join(otherFolder, name))]
    for (const wheel of all) await run(python, ['-m', 'zipfile', '-e', wheel, target])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const wheelsIn = async (folder: string) => (await readdir(folder)).filter((name) => name.endsWith('.whl'))

/** A wheel's name begins with that of its package (PEP 427). */
const packageOf = (wheel: string) => wheel.slice(0, wheel.indexOf('-')).toLowerCase()

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
