// Before a change: docs/traps.md, What else changes with a change.
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

/**
 * `checkpoints` and `runs` can be sharded by `thread_id`. A statement whose text does not name the shard key, as
 * `thread_id` or `runKey(…)`, asks every shard. Each of those is listed here under its row of docs/scale.md, which says
 * how often. A new statement should carry the key: most code has the run or the thread in hand.
 */
const askEveryShard: Record<string, string[]> = {
  'a run by its id alone': [
    'services/public/index.ts runs.findOne',
    'services/runs/index.ts runs.findOne',
    'services/v1/responses/find-items.ts runs.findOne',
    'services/v1/responses/find-items.ts checkpoints.find',
    'services/v1/responses/index.ts runs.findOne',
    'services/v1/stored-completions.ts runs.findOne',
    'services/v1/stored-completions.ts runs.findOne',
  ],
  'lists and sums of a user or project': [
    'services/accounts/usage.ts runs.aggregate',
    'services/accounts/usage.ts runs.aggregate',
    'services/accounts/usage.ts runs.aggregate',
    'services/accounts/usage.ts runs.aggregate',
    'services/accounts/usage.ts runs.aggregate',
    'services/accounts/usage.ts runs.aggregate',
    'services/budgets/spent-today.ts runs.find',
    'services/budgets/spent-today.ts runs.countDocuments',
    'services/budgets/spent-today.ts runs.aggregate',
    'services/v1/stored-completions.ts runs.find',
  ],
  'words of messages': ['services/threads/find-messages.ts checkpoints.find'],
  'runs that are due for a check': ['services/runs/sweep.ts runs.find'],
  'open runs without a time of check': ['services/runs/sweep.ts runs.updateMany'],
  'runs that a run has asked': ['services/runs/asking/end-asked-runs.ts runs.find'],
  'the outermost run of a question': ['services/runs/asking/start-asked-run.ts runs.updateOne'],
  'runs that a budget holds': ['services/budgets/leftovers.ts runs.find'],
  'open runs of an owner that goes': [
    'services/admin/suspension.ts runs.find',
    'services/deletion/stop-runs.ts runs.find',
  ],
  'runs that wait too long': ['services/retention/index.ts runs.find'],
  'parts of imported runs': ['services/import/import-run-parts.ts runs.findOne'],
  'pages and reports of the operator': [
    'services/admin/accounts.ts runs.find',
    'services/admin/activity.ts runs.aggregate',
    'services/admin/stats.ts runs.countDocuments',
    'services/admin/stats.ts runs.countDocuments',
  ],
}

const root = path.dirname(import.meta.dirname)
const folders = '{activities,api,composition,domain,infra,services,worker}'
const sources = globSync(`${folders}/**/*.ts`, { cwd: root }).map((file) => ({
  file,
  text: readFileSync(path.join(root, file), 'utf8'),
}))

const methods =
  'find|findOne|findById|findOneAnd\\w+|updateOne|updateMany|replaceOne|deleteOne|deleteMany|exists|countDocuments|' +
  'distinct|aggregate|bulkWrite|insertMany|insertOne|create|findByIdAnd\\w+'

interface Statement {
  name: string
  args: string
}

/** Each statement of the sources on one of the two collections, with the text of its arguments. */
function statementsIn({ file, text }: { file: string; text: string }): Statement[] {
  const calls = new RegExp(`(?<![\\w/'])(runs|checkpoints)\\s*\\.\\s*(${methods})\\s*(?:<[^(]*>)?\\(`, 'g')
  const isImported = /collections|Collections/.test(text)
  if (!isImported) return []
  return [...text.matchAll(calls)].map((call) => {
    const from = call.index + call[0].length
    return { name: `${file} ${call[1]}.${call[2]}`, args: text.slice(from, endOfArguments(text, from)) }
  })
}

function endOfArguments(text: string, from: number): number {
  let depth = 1
  let at = from
  for (; depth > 0 && at < text.length; at++) {
    const sign = text.charAt(at)
    if ('([{'.includes(sign)) depth += 1
    if (')]}'.includes(sign)) depth -= 1
  }
  return at
}

/** Whether the filter names the key; the text of what a statement projects or changes does not count. */
function carriesKey({ name, args }: Statement): boolean {
  if (/\.(?:insertMany|insertOne|create)$/.test(name)) return true
  return /(?<!\$)\bthread_id\b|runKey\(/.test(args.slice(0, endOfArguments(args, args.search(/[({[]/) + 1)))
}

test('each statement on runs and checkpoints carries the shard key, or is listed', () => {
  const all = sources.flatMap(statementsIn)
  expect(all.length).toBeGreaterThan(110)
  const without = all.filter((statement) => !carriesKey(statement)).map(({ name }) => name)
  expect(without.toSorted()).toEqual(Object.values(askEveryShard).flat().toSorted())
})

test('docs/scale.md says how often every shard is asked', () => {
  const page = readFileSync(path.join(root, 'docs/scale.md'), 'utf8')
  const section = /## What asks every shard\n([\s\S]*?)(?=\n## |$)/.exec(page)?.[1] ?? ''
  const rows = [...section.matchAll(/^\| ([^|]+?) +\| ([^|]+?) +\|$/gm)].map((row) => row[1] ?? '').slice(1)
  const named = rows.filter((row) => !row.startsWith('-'))
  expect(named.toSorted()).toEqual(Object.keys(askEveryShard).toSorted())
})
