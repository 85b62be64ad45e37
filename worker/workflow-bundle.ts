import { createHash } from 'node:crypto'
import { mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { type WorkflowBundleWithSourceMap, bundleWorkflowCode } from '@temporalio/worker'

const root = fileURLToPath(new URL('..', import.meta.url))
const cacheDir = join(root, 'node_modules', '.cache', 'workflows')

/**
 * The workflow code as one file. It is built once for each state of the sources and kept, because
 * building takes seconds and a worker that comes back after a crash should not wait for it. How
 * failures are written is part of it.
 */
export async function workflowBundle({
  failureConverterPath,
}: { failureConverterPath?: string } = {}): Promise<WorkflowBundleWithSourceMap> {
  const variant = failureConverterPath === undefined ? '' : '-encoded-failures'
  const path = join(cacheDir, `${await sourcesHash()}${variant}.js`)
  const cached = await readFile(path, 'utf8').catch(() => undefined)
  if (cached !== undefined) return { code: cached, sourceMap: '' }
  const bundle = await bundleWorkflowCode({
    workflowsPath: join(root, 'workflows', 'index.ts'),
    ...(failureConverterPath === undefined ? {} : { failureConverterPath }),
    logger: quiet,
  })
  // Where nothing can be written, such as in an image, the next start builds it again.
  await keep(path, bundle.code).catch(() => undefined)
  return bundle
}

async function keep(path: string, code: string): Promise<void> {
  await mkdir(cacheDir, { recursive: true })
  const unfinished = `${path}.${process.pid}`
  await writeFile(unfinished, code)
  await rename(unfinished, path)
}

async function sourcesHash(): Promise<string> {
  const hash = createHash('sha256')
  for (const folder of ['workflows', 'domain']) {
    const files = await readdir(join(root, folder), { recursive: true })
    for (const file of files.filter((name) => name.endsWith('.ts')).toSorted()) {
      hash.update(file).update(await readFile(join(root, folder, file)))
    }
  }
  // How failures are written is bundled, too.
  for (const file of ['infra/temporal/failure-converter.ts', 'package-lock.json']) {
    hash.update(await readFile(join(root, file)))
  }
  return hash.digest('hex').slice(0, 32)
}

const nothing = () => undefined
const quiet = { log: nothing, trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing }
