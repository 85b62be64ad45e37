import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { askEveryShard, withoutKey } from './support/shard-keys.ts'

// Each service of the tests checks what its database is asked: `watchShardKeys`.

const root = path.dirname(import.meta.dirname)

test('docs/scale.md says how often every shard is asked', () => {
  const page = readFileSync(path.join(root, 'docs/scale.md'), 'utf8')
  const section = /## What asks every shard\n([\s\S]*?)(?=\n## |$)/.exec(page)?.[1] ?? ''
  const rows = [...section.matchAll(/^\| ([^|]+?) +\| ([^|]+?) +\|$/gm)].map((row) => row[1] ?? '').slice(1)
  const named = rows.filter((row) => !row.startsWith('-'))
  expect(named.toSorted()).toEqual(Object.keys(askEveryShard).toSorted())
})

test('what is listed is still there', () => {
  const places = Object.values(askEveryShard)
    .flat()
    .map((name) => name.split(' ')[0] ?? '')
  const files = places.filter((place) => place.endsWith('.ts'))
  expect(files.length).toBeGreaterThan(15)
  expect(files.filter((file) => !existsSync(path.join(root, file)))).toEqual([])
})

test.each<[string, Record<string, unknown>, string[]]>([
  ['find', { find: 'runs', filter: { _id: 'r', thread_id: 't' } }, []],
  ['find', { find: 'runs', filter: { thread_id: { $in: ['t', 'u'] } } }, []],
  ['find', { find: 'runs', filter: { user_id: 'u', _id: 'r' } }, ['runs.find _id user_id']],
  ['find', { find: 'runs', filter: { thread_id: { $gt: 't' } } }, ['runs.find thread_id']],
  ['find', { find: 'runs', filter: { $or: [{ thread_id: 't' }, { user_id: 'u' }] } }, ['runs.find $or']],
  ['find', { find: 'threads', filter: { user_id: 'u' } }, []],
  ['find', { find: 'checkpoints' }, ['checkpoints.find']],
  ['count', { count: 'runs', query: { status: 'running' } }, ['runs.count status']],
  [
    'findAndModify',
    { findAndModify: 'runs', query: { _id: 'r' }, update: { thread_id: 't' } },
    ['runs.findAndModify _id'],
  ],
  ['aggregate', { aggregate: 'runs', pipeline: [{ $match: { thread_id: 't' } }, { $count: 'n' }] }, []],
  ['aggregate', { aggregate: 'runs', pipeline: [{ $group: { _id: '$thread_id' } }] }, ['runs.aggregate']],
  ['update', { update: 'runs', updates: [{ q: { thread_id: 't' } }, { q: { _id: 'r' } }] }, ['runs.update _id']],
  ['delete', { delete: 'checkpoints', deletes: [{ q: { run_id: 'r' } }] }, ['checkpoints.delete run_id']],
  ['insert', { insert: 'runs', documents: [{ _id: 'r', thread_id: 't' }] }, []],
  ['insert', { insert: 'runs', documents: [{ _id: 'r' }] }, ['runs.insert thread_id']],
  ['mapReduce', { mapReduce: 'runs' }, ['runs.mapReduce']],
  ['getMore', { getMore: 5, collection: 'runs' }, []],
  ['killCursors', { killCursors: 'runs', cursors: [] }, []],
])('%s %j asks every shard by %j', (name, command, expected) => {
  expect(withoutKey(name, command)).toEqual(expected)
})
