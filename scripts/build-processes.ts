import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type SourceMapSegment, decode, encode } from '@jridgewell/sourcemap-codec'
import { type Plugin, rolldown } from 'rolldown'
import { parseOwnJson } from '../domain/json.ts'
import { currentBundle, processEntries, readerEntries, readersFolder, root } from './process-bundle.ts'

/** Packages with native code, or that look for files or threads beside their own. */
const external = [
  /^@temporalio\//,
  /^@lancedb\//,
  'onnxruntime-node',
  /^@fastify\/swagger-ui/,
  /^redoc/,
  /^tesseract\.js-core\//,
  'pyodide',
  'apache-arrow',
  'argon2',
  'pino',
]

/** Other branches use earlier bundles: they stay for a week after their last use. */
const cachedMs = 7 * 24 * 3_600_000

/**
 * `node scripts/build-processes.ts [folder]`. Without a folder: for these sources, where `npm start` looks for it. The
 * image and `npm run build` name one, which does not change with the sources: what is in it is replaced.
 */
const startedAt = performance.now()
const named = process.argv[2]
const target = named === undefined ? currentBundle() : path.resolve(named)
if (named !== undefined) await rm(target, { recursive: true, force: true })
await buildBundle(target)
if (named === undefined) await removeOld(target)
console.log(
  `The processes are bundled in ${path.relative(root, target)} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`,
)

/**
 * Modules of the processes and their packages in few files, which halves the time of a start. Modules that are imported
 * dynamically stay in files of their own. It is written beside its place and then moved, so that it is never seen half.
 */
async function buildBundle(folder: string): Promise<void> {
  const fresh = `${folder}.${process.pid}`
  await bundlePart(processEntries, { fresh, folder })
  await bundlePart(readerEntries, { fresh: path.join(fresh, readersFolder), folder: path.join(folder, readersFolder) })
  await mkdir(path.dirname(folder), { recursive: true })
  await rename(fresh, folder).catch(async (error: unknown) => {
    // Another process may have been faster.
    await rm(fresh, { recursive: true, force: true })
    if (!(await stat(folder).catch(() => undefined))) throw error
  })
}

async function bundlePart(named: Record<string, string>, { fresh, folder }: { fresh: string; folder: string }) {
  // The image is built without `local/`.
  const entries = Object.entries(named).filter(([, file]) => existsSync(path.join(root, file)))
  const bundle = await rolldown({
    input: Object.fromEntries(entries.map(([name, file]) => [name, path.join(root, file)])),
    platform: 'node',
    external,
    plugins: [ownAddresses(folder), tokensAsText()],
    onLog: (level, log) => {
      if (level === 'warn') console.log(`bundling: ${log.message}`)
    },
  })
  const { output } = await bundle.write({
    dir: fresh,
    format: 'esm',
    entryFileNames: 'main-[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
    sourcemap: true,
    sourcemapExcludeSources: true,
    minify: { mangle: { keepNames: true }, compress: true, codegen: true },
    keepNames: true,
  })
  await bundle.close()
  for (const { fileName } of output) if (fileName.endsWith('.map')) await shortenMap(path.join(fresh, fileName))
  for (const [name] of entries) {
    // Source maps are read for modules that are loaded after these statements, but not of packages: they would take
    // 4 MB in each process.
    const entry = `import { setSourceMapsSupport } from 'node:module'
setSourceMapsSupport(true, { nodeModules: false })
await import('./main-${name}.mjs')
`
    await writeFile(path.join(fresh, `${name}.mjs`), entry)
  }
}

/**
 * Modules find threads, scripts and files relative to themselves: in the bundle relative to where they were, and readers
 * in the bundle.
 */
function ownAddresses(folder: string): Plugin {
  return {
    name: 'own-addresses',
    transform(code, id) {
      if (id.includes('node_modules') || !/import\.meta\.(?:url|dirname)/.test(code)) return null
      const url = `new URL(${JSON.stringify(path.relative(folder, id))}, import.meta.url).href`
      const dirname = `(import.meta.dirname + ${JSON.stringify(`/${path.relative(folder, path.dirname(id))}`)})`
      const address = /new URL\('\.\/child\/(\w+)\.ts', import\.meta\.url\)|import\.meta\.(?:url|dirname)/g
      return {
        code: code.replaceAll(address, (found, reader: string | undefined) => {
          if (reader !== undefined) return `new URL('${readersFolder}/${reader}.mjs', import.meta.url)`
          return found === 'import.meta.url' ? url : dirname
        }),
        // The lines stay the same.
        map: null,
      }
    },
  }
}

/** The tokens of the tokenizer as a text, which V8 reads in half the time that a module of 100,000 literals takes. */
function tokensAsText(): Plugin {
  return {
    name: 'tokens-as-text',
    async transform(_code, id) {
      if (!/gpt-tokenizer\/.+\/bpeRanks\/cl100k_base\.js$/.test(id)) return null
      const { default: tokens }: { default: unknown } = await import(id)
      return { code: `export default JSON.parse(${JSON.stringify(JSON.stringify(tokens))})`, map: null }
    },
  }
}

/**
 * Keeps the lines of our sources, without columns, names and packages, because Node holds the maps of all loaded files in
 * memory once a stack trace was read.
 */
async function shortenMap(file: string): Promise<void> {
  const map: { mappings: string; sources: string[] } = parseOwnJson(await readFile(file, 'utf8'))
  const isOwn = map.sources.map((source) => !path.relative(root, path.resolve(file, '..', source)).startsWith('node_'))
  const lines = decode(map.mappings).map((segments) => {
    const kept: SourceMapSegment[] = []
    let place = ''
    for (const [column, source, sourceLine = 0] of segments) {
      const isOurs = source !== undefined && isOwn[source]
      const next = isOurs ? `${source}:${sourceLine}` : ''
      if (next === place) continue
      place = next
      kept.push(isOurs ? [column, source, sourceLine, 0] : [column])
    }
    return kept
  })
  await writeFile(file, JSON.stringify({ ...map, names: [], mappings: encode(lines) }))
}

async function removeOld(current: string): Promise<void> {
  const folders = path.dirname(current)
  for (const name of await readdir(folders)) {
    const folder = path.join(folders, name)
    const made = await stat(folder).catch(() => undefined)
    if (folder !== current && made && Date.now() - made.mtimeMs > cachedMs)
      await rm(folder, { recursive: true, force: true })
  }
}
