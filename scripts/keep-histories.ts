import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Part of a release: keeps the saved workflow histories under the version in package.json, so that the tests
 * replay them for as long as workflows of that version may run. Refuses when the version has some already.
 */
const root = join(import.meta.dirname, '..')
const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
if (typeof manifest !== 'object' || manifest === null || !('version' in manifest))
  throw new Error('package.json names no version')
const folder = join('test/replay/releases', String(manifest.version))
await cp(join(root, 'test/replay/histories'), join(root, folder), {
  recursive: true,
  force: false,
  errorOnExist: true,
})
console.log(`kept the histories in ${folder}`)
