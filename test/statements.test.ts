import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { declaredRecords } from '../domain/records/declared-records.ts'

const root = path.dirname(import.meta.dirname)

/** Statements on a collection, by the names that code has for collections. */
function statements(): RegExp {
  const names = Object.keys(declaredRecords)
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

/** A model beside the declarations has a type, indexes and an owner that nothing compares. */
test('models are made of declared records', () => {
  const making = /\bnew (?:mongoose\.)?Schema\b|\.model(?:<[^()]*>)?\(\s*['"`\w]/
  const files = globSync('{api,services,activities,infra,worker,composition,local}/**/*.ts', {
    cwd: root,
    exclude: ['**/node_modules/**'],
  })
  expect(files.length).toBeGreaterThan(500)
  const found = files.filter((file) => making.test(readFileSync(path.join(root, file), 'utf8')))
  expect(found).toEqual(['infra/mongo/connect.ts'])
})
