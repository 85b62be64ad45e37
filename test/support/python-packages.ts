import path from 'node:path'
import { installInCache } from '../../local/services/cache.ts'
import { findOnPath, run } from '../../local/services/command.ts'

/** The first run installs them. */
export const installTimeoutMs = 300_000

/**
 * A virtual environment with these packages of PyPI, each with its version: made once, in the cache folder. Answers
 * the folder of its programs.
 */
export async function pythonPrograms(name: string, packages: readonly string[]): Promise<string> {
  const folder = [name, ...packages.map((entry) => entry.replaceAll(/[^\w.]+/g, '-'))].join('-')
  const home = await installInCache(folder, console.log, async (target) => {
    const python = (await findOnPath('python3')) ?? (await findOnPath('python'))
    if (!python) throw new Error('no python3 on PATH')
    console.log(`installing ${packages.join(', ')} from PyPI`)
    await run(python, ['-m', 'venv', target])
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages]
    await run(path.join(target, 'bin', 'python'), pip)
  })
  return path.join(home, 'bin')
}
