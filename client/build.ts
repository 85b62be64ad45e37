import { chmod, rm } from 'node:fs/promises'
import path from 'node:path'
import { rolldown } from 'rolldown'

/**
 * `node client/build.ts`: the JavaScript of the package, which `npm pack` puts into it. Node does not strip types in
 * `node_modules`. The command line has its packages inside, so that it starts without looking for them.
 */
const folder = path.join(import.meta.dirname, 'dist')
await rm(folder, { recursive: true, force: true })
const entries = [
  {
    file: 'src/index.ts',
    name: 'index.js',
    external: ['openapi-fetch', 'eventsource-parser/stream', 'eventsource-parser'],
  },
  { file: 'cli/main.ts', name: 'cli.js', external: [] },
]
for (const { file, name, external } of entries) {
  const bundle = await rolldown({ input: path.join(import.meta.dirname, file), platform: 'node', external })
  await bundle.write({ file: path.join(folder, name), format: 'esm' })
  await bundle.close()
}
await chmod(path.join(folder, 'cli.js'), 0o755)
