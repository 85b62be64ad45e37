import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { cp, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Distribution, fetchPyodideWheels } from '../../infra/python/pyodide-wheels.ts'
import { waysByCache } from './cache.ts'
import { unpackWheels } from './python-wheels.ts'
import { type Log, firstThatWorks } from './ways.ts'

const root = path.join(import.meta.dirname, '../..')
const requirements = path.join(root, 'infra/python/requirements.txt')
const pyodideLock = fileURLToPath(import.meta.resolve('pyodide/pyodide-lock.json'))

/**
 * The folder of packages for the code of models, from the cache or from the registry of Python packages. It lies in the
 * checkout: code runs under a user id of its own, which may not pass through the home of the user who has the cache.
 * `distribution`: packages of Pyodide's own beside them.
 */
export async function prepareCodePackages(log: Log, distribution: Distribution = { names: [] }) {
  const { names } = distribution
  const digest = createHash('sha256')
    .update(readFileSync(requirements))
    .update(names.length === 0 ? '' : readFileSync(pyodideLock))
    .update(names.toSorted().join(','))
    .digest('hex')
    .slice(0, 12)
  const packages = (folder: string) => path.join(folder, 'packages')
  const install = (folder: string) => {
    log('fetching Python packages for the code of models (10 MB)')
    const others = (target: string) => fetchPyodideWheels(distribution, target)
    return unpackWheels(requirements, packages(folder), names.length === 0 ? {} : { others })
  }
  const name = names.length === 0 ? 'PyPI' : 'PyPI and Pyodide'
  const ways = waysByCache(`code-packages-${digest}`, log, packages, [{ name, install }])
  const { value, source } = await firstThatWorks('Python packages for code', 'CODE_PACKAGES', ways)
  const own = path.join(root, '.cache', `code-packages-${digest}`)
  if (!existsSync(own)) await copyTo(value, own)
  return { value: own, source }
}

async function copyTo(from: string, to: string): Promise<void> {
  const fresh = `${to}.${process.pid}`
  await cp(from, fresh, { recursive: true })
  try {
    await rename(fresh, to)
  } catch (error) {
    await rm(fresh, { recursive: true, force: true })
    // Another process was faster.
    if (!existsSync(to)) throw error
  }
}
