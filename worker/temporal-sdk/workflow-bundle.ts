// Before a change: README.md of this folder, and docs/traps.md, Temporal.
import { createHash } from 'node:crypto'
import { glob, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type WorkflowBundleWithSourceMap, bundleWorkflowCode } from '@temporalio/worker'

const root = fileURLToPath(new URL('../..', import.meta.url))
const workflowsPath = join(root, 'workflows', 'index.ts')
const withoutCallStacks = join(import.meta.dirname, 'without-call-stacks.ts')
const cacheDir = join(root, 'node_modules', '.cache', 'workflows')

/**
 * The workflow code as one file. It is built once for each state of the sources and cached, because building takes
 * seconds and a worker that restarts after a crash should not wait for it. The failure converter is part of it. With
 * `callStacks`, the call stacks of waiting workflows can be queried.
 */
export async function workflowBundle({
  failureConverterPath,
  callStacks = false,
}: { failureConverterPath?: string; callStacks?: boolean } = {}): Promise<WorkflowBundleWithSourceMap> {
  const variant = (failureConverterPath === undefined ? '' : '-encoded-failures') + (callStacks ? '-call-stacks' : '')
  const path = join(cacheDir, `${await sourcesHash()}${variant}.js`)
  const cached = await readFile(path, 'utf8').catch(() => undefined)
  if (cached !== undefined) return { code: cached, sourceMap: '' }
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    // Evaluated once in a worker and not for each execution, which would take half of an execution's start. So no
    // module of a workflow may keep state; a test holds that.
    preloadModules: [
      ...(callStacks ? [] : [withoutCallStacks]),
      '@temporalio/workflow',
      '@temporalio/common',
      workflowsPath,
    ],
    ...(failureConverterPath === undefined ? {} : { failureConverterPath }),
    logger: quiet,
  })
  // If the cache cannot be written, for example in an image, the next start builds it again.
  await keep(path, code).catch(() => undefined)
  return { code, sourceMap: '' }
}

async function keep(path: string, code: string): Promise<void> {
  await mkdir(cacheDir, { recursive: true })
  const unfinished = `${path}.${process.pid}`
  await writeFile(unfinished, code)
  await rename(unfinished, path)
}

/**
 * The files that can be part of the bundle, and the options of the build. A test compares this with the bundle's
 * contents.
 */
const sources = [
  'workflows/**/*.ts',
  'domain/**/*.ts',
  'infra/temporal/failure-converter.ts',
  'worker/temporal-sdk/{without-call-stacks,workflow-bundle}.ts',
  'package-lock.json',
]

/** Paths relative to the project's folder. */
export async function bundleSources(): Promise<string[]> {
  return (await Array.fromAsync(glob(sources, { cwd: root }))).toSorted()
}

/** Hashing takes a tenth of a second, and a process executes one state of the sources. */
let hashed: Promise<string> | undefined

function sourcesHash(): Promise<string> {
  hashed ??= hashSources()
  return hashed
}

async function hashSources(): Promise<string> {
  const hash = createHash('sha256')
  for (const file of await bundleSources()) {
    hash.update(file).update(await readFile(join(root, file)))
  }
  return hash.digest('hex').slice(0, 32)
}

const nothing = () => undefined
const quiet = { log: nothing, trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing }
