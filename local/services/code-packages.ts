import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { waysByCache } from './cache.ts'
import { unpackWheels } from './python-wheels.ts'
import { type Log, firstThatWorks } from './ways.ts'

const requirements = path.join(import.meta.dirname, '../../infra/python/requirements.txt')

/** The folder of packages for the code of models, from the cache or from the registry of Python packages. */
export function prepareCodePackages(log: Log) {
  const digest = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12)
  const packages = (folder: string) => path.join(folder, 'packages')
  const install = (folder: string) => {
    log('fetching Python packages for the code of models (10 MB)')
    return unpackWheels(requirements, packages(folder), [])
  }
  const ways = waysByCache(`code-packages-${digest}`, log, packages, [{ name: 'PyPI', install }])
  return firstThatWorks('Python packages for code', 'CODE_PACKAGES', ways)
}
