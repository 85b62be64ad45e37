import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { installInCache } from '../../local/services/cache.ts'
import { findOnPath, run } from '../../local/services/command.ts'

/** The Python clients that the compat family is tested with. */
const packages = ['openai==3.51.0', 'langchain-openai==1.7.3']
const folder = `python-clients-${packages.map((name) => name.replace('==', '-')).join('-')}`
/** The first run installs them from PyPI. */
export const installTimeoutMs = 300_000

/** Makes the virtual environment once, in the cache folder, and answers its interpreter. */
export async function pythonWithClients(): Promise<string> {
  const home = await installInCache(folder, console.log, async (target) => {
    const python = (await findOnPath('python3')) ?? (await findOnPath('python'))
    if (!python) throw new Error('no python3 on PATH')
    console.log(`installing ${packages.join(' and ')} from PyPI`)
    await run(python, ['-m', 'venv', target])
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages]
    await run(path.join(target, 'bin', 'python'), pip)
  })
  return path.join(home, 'bin', 'python')
}

/** Runs a Python script of the tests or the examples to its end and answers what it printed. */
export function runPython(python: string, script: string, env: Record<string, string>): Promise<string> {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  return run(python, [path.join(root, script)], {
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONWARNINGS: 'ignore',
      ...env,
    },
    timeoutMs: 150_000,
  })
}
