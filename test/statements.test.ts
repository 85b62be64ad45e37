import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { declaredRecords } from '../domain/records/declared-records.ts'

const root = path.dirname(import.meta.dirname)

/**
 * Folders of `services`, and files beside them, whose statements do not all stand in `store.ts` yet, with the number of
 * such files. The list only becomes shorter, and the numbers smaller: docs/adding-a-capability.md.
 */
const outsideStores: Record<string, number> = {
  accounts: 11,
  admin: 7,
  assistants: 10,
  attachments: 3,
  audit: 2,
  auth: 2,
  backup: 1,
  billing: 6,
  budgets: 6,
  code: 4,
  deletion: 9,
  export: 3,
  feedback: 1,
  import: 10,
  knowledge: 32,
  mcp: 1,
  memory: 2,
  models: 2,
  'note-activity.ts': 1,
  'parents.ts': 1,
  projects: 4,
  public: 6,
  retention: 2,
  runs: 26,
  schedules: 9,
  sources: 14,
  threads: 14,
  v1: 16,
}

/** Statements on a collection, by the names that code has for collections. */
function statements(): RegExp {
  const declared = ['services/collections.ts', 'services/knowledge/collections.ts'].flatMap((file) =>
    [...readFileSync(path.join(root, file), 'utf8').matchAll(/^ {2}(\w+): Model</gm)].map(([, name]) => name),
  )
  const names = [...declared, ...Object.keys(declaredRecords)]
  expect(names.length).toBeGreaterThan(25)
  const methods =
    'find|findOne|findById|findOneAndUpdate|findOneAndDelete|exists|countDocuments|create|insertMany|updateOne|updateMany|deleteOne|deleteMany|aggregate|distinct|bulkWrite'
  return new RegExp(String.raw`\b(?:${names.join('|')})\s*\.(?:${methods})(?:<[^()]*>)?\(`)
}

test('statements on collections stand in the stores, but for what is listed', () => {
  const statement = statements()
  const files = globSync('services/**/*.ts', { cwd: root })
  const isStore = (file: string) => path.basename(file) === 'store.ts'
  const found = files.filter((file) => statement.test(readFileSync(path.join(root, file), 'utf8')))
  expect(found.filter(isStore).length).toBeGreaterThan(0)
  const counted = Object.groupBy(
    found.filter((file) => !isStore(file)),
    (file) => file.split(path.sep).slice(1, -1)[0] ?? path.basename(file),
  )
  for (const [place, of = []] of Object.entries(counted))
    expect(of.length, `files of ${place} with statements outside of its store`).toBeLessThanOrEqual(
      outsideStores[place] ?? 0,
    )
  const converted = Object.keys(outsideStores).filter((place) => counted[place] === undefined)
  expect(converted, 'listed places that have none any more').toEqual([])
})
