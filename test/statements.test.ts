import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { declaredRecords } from '../domain/records/declared-records.ts'

const root = path.dirname(import.meta.dirname)

/** Statements on a collection, by the names that code has for collections. */
function statements(): RegExp {
  const collections = readFileSync(path.join(root, 'services/collections.ts'), 'utf8')
  const others = [...collections.matchAll(/^ {2}(\w+): Model</gm)].map(([, name]) => name)
  const names = [...others, ...Object.keys(declaredRecords)]
  expect(names.length).toBeGreaterThan(25)
  const methods =
    'find|findOne|findById|findOneAndUpdate|findOneAndDelete|exists|countDocuments|create|insertMany|updateOne|updateMany|deleteOne|deleteMany|aggregate|distinct|bulkWrite'
  return new RegExp(String.raw`\b(?:${names.join('|')})\s*\.(?:${methods})(?:<[^()]*>)?\(`)
}

/** docs/adding-a-capability.md says why. */
test('statements on collections stand in the stores', () => {
  const statement = statements()
  const files = globSync('{services,activities}/**/*.ts', { cwd: root })
  const isStore = (file: string) => path.basename(file) === 'store.ts' || path.dirname(file) === 'services/stores'
  const found = files.filter((file) => statement.test(readFileSync(path.join(root, file), 'utf8')))
  expect(found.filter(isStore).length).toBeGreaterThan(25)
  expect(found.filter((file) => !isStore(file))).toEqual([])
})
