import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'

/**
 * `node scripts/prune-packages.ts [folder]` halves `node_modules` for the image: it removes packages that this
 * service never loads, native code for other machines, and documentation. It fails if a listed name does not exist,
 * so that the list stays correct.
 *
 * With `--to-run`, as after the installation for `npm start`, what builds the console stays.
 */
const isToRun = process.argv.includes('--to-run')
const packages = path.resolve(process.argv.slice(2).find((argument) => !argument.startsWith('--')) ?? 'node_modules')

/**
 * Optional dependencies of other packages for features that we do not use: their own embeddings, images.
 */
const unused = [
  '@huggingface',
  '@img',
  '@lancedb/lancedb/node_modules/openai',
  'onnxruntime-web',
  // A peer dependency brings the compiler, which nothing runs.
  '@typescript',
  'typescript',
  'sharp',
  // The bundle of redoc has its own.
  'core-js',
  // One variant of the recognizer is used, and one of the data of each language.
  ...['', '-lstm', '-simd', '-relaxedsimd', '-relaxedsimd-lstm'].flatMap((variant) =>
    ['.js', '.wasm', '.wasm.js'].map((end) => `tesseract.js-core/tesseract-core${variant}${end}`),
  ),
  'tesseract.js-core/tesseract-core-simd-lstm.wasm.js',
  '@tesseract.js-data/deu/4.0.0',
  '@tesseract.js-data/eng/4.0.0',
  '@temporalio/core-bridge/sdk-core',
]

/** Node refuses to run TypeScript in packages. */
const forPeople = /\.(?:map|[mc]?ts|md|markdown)$/i

// npm leaves out what could not be installed, and needs not be.
const missing = (isToRun ? [] : unused).filter((name) => !existsSync(path.join(packages, name)))
if (missing.length > 0) {
  console.error(`not among the packages: ${missing.join(', ')}; bring the list in scripts/prune-packages.ts up to date`)
  process.exit(1)
}
await Promise.all(unused.map((name) => remove(path.join(packages, name))))

/** Temporal's native module has one folder per system: `x86_64-unknown-linux-gnu`. */
const releases = path.join(packages, '@temporalio/core-bridge/releases')
const processor = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
const system = process.platform === 'darwin' ? 'apple-darwin' : 'unknown-linux-gnu'
for (const release of await readdir(releases)) {
  if (release !== `${processor}-${system}`) await remove(path.join(releases, release))
}

/** ONNX Runtime has one folder per system and processor: `linux/x64`. */
const runtimes = path.join(packages, 'onnxruntime-node/bin/napi-v6')
for (const system of await readdir(runtimes).catch(() => [])) {
  for (const processor of await readdir(path.join(runtimes, system)))
    if (system !== process.platform || processor !== process.arch) await remove(path.join(runtimes, system, processor))
}

/** The same for the canvas with which pdf.js would draw outside of browsers. */
for (const name of await readdir(path.join(packages, '@napi-rs')).catch(() => [])) {
  if (name.startsWith('canvas')) await remove(path.join(packages, '@napi-rs', name))
}

const entries = await readdir(packages, { recursive: true, withFileTypes: true })
await Promise.all(
  entries
    .filter((entry) => entry.isFile() && forPeople.test(entry.name) && !/^license/i.test(entry.name))
    .map((entry) => remove(path.join(entry.parentPath, entry.name))),
)

async function remove(target: string): Promise<void> {
  await rm(target, { recursive: true, force: true })
}
