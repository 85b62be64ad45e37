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
    console.log(`installing ${packages.join(', ')} from PyPI`)
    await run(await findPython(), ['-m', 'venv', target])
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages]
    await run(path.join(target, 'bin', 'python'), pip)
  })
  return path.join(home, 'bin')
}

/** The folder of a source package of PyPI, which carries what the installed one does not: tests and their files. */
export async function pythonSource(name: string, version: string): Promise<string> {
  const home = await installInCache(`${name}-source-${version}`, console.log, async (target) => {
    const quiet = ['--quiet', '--disable-pip-version-check', '--no-deps', '--no-binary', name]
    await run(await findPython(), ['-m', 'pip', 'download', ...quiet, '--dest', target, `${name}==${version}`])
    await run('tar', ['xzf', path.join(target, `${name}-${version}.tar.gz`), '-C', target])
  })
  return path.join(home, `${name}-${version}`)
}

async function findPython(): Promise<string> {
  const python = (await findOnPath('python3')) ?? (await findOnPath('python'))
  if (!python) throw new Error('no python3 on PATH')
  return python
}
