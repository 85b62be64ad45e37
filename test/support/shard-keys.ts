// Before a change: docs/traps.md, What else changes with a change.
import path from 'node:path'
import type { Connection } from 'mongoose'

/**
 * `checkpoints` and `runs` can be sharded by `thread_id`. A command whose filter does not name threads asks every shard.
 * Each of those is listed here under its row of docs/scale.md, which says how often: its place, and members that its
 * filter has at least. A new statement should carry the key: most code has the run or the thread in hand.
 */
export const askEveryShard: Record<string, string[]> = {
  'a run by its id alone': [
    'services/cursor-page.ts runs.find _id completion.stored project_id user_id',
    'services/public/index.ts runs.find _id public',
    'services/runs/index.ts runs.find _id',
    'services/v1/responses/approvals.ts runs.find _id project_id user_id',
    'services/v1/responses/find-items.ts checkpoints.find _id',
    'services/v1/responses/find-items.ts runs.find _id project_id user_id',
    'services/v1/responses/index.ts runs.find _id project_id user_id',
    'services/v1/stored-completions.ts runs.find _id completion.stored project_id user_id',
  ],
  'lists and sums of a user or project': [
    'a cursor runs.find completion.stored project_id status user_id',
    'services/accounts/usage.ts runs.aggregate imported user_id',
    'services/budgets/project-usage/store.ts runs.aggregate _id project_id user_id',
    'services/stores/runs.ts runs.aggregate assistant_id created_at imported',
    'services/stores/runs.ts runs.aggregate created_at imported public user_id',
    'services/budgets/spent-today.ts runs.find assistant_id created_at imported',
    'services/budgets/spent-today.ts runs.find created_at imported public user_id',
  ],
  'words of messages': ['services/threads/find-messages.ts checkpoints.find search.project_id search.words'],
  'runs that are due for a check': ['services/runs/upkeep.ts runs.find check_at'],
  'runs that a budget holds': ['services/budgets/counting.ts runs.find _id'],
  'open runs of an owner that goes': [
    'services/admin/suspension.ts runs.find status user_id',
    'services/scim/deactivation.ts runs.find status user_id',
    'services/deletion/stop-runs.ts runs.find assistant_id status',
    'services/projects/depart.ts runs.find project_id status user_id',
    'services/deletion/index.ts runs.find in_chat_of_other status user_id',
    'services/hand-over/projects/store.ts runs.update acting.person project_id status user_id',
    'a cursor runs.find in_chat_of_other user_id',
    'services/owned-data/data-store.ts runs.aggregate in_chat_of_other user_id',
  ],
  'runs that wait too long': ['services/retention/index.ts runs.find created_at status'],
  'parts of imported runs': ['services/import/import-run-parts.ts runs.find _id user_id'],
  'pages and reports of the operator': [
    // The search for orphans.
    'a cursor checkpoints.aggregate',
    'a cursor runs.aggregate',
    'services/admin/accounts.ts runs.find user_id',
    'services/admin/activity.ts runs.aggregate _id imported',
    'services/admin/store.ts runs.aggregate status',
  ],
}

const root = path.resolve(import.meta.dirname, '../..')
const sharded = new Set(['runs', 'checkpoints'])

type Filter = Record<string, unknown>

/** What a command of the driver asks of every shard: `{collection}.{command} {members of the filter}`. */
export function withoutKey(name: string, command: Record<string, any>): string[] {
  const collection = String(command[name])
  if (!sharded.has(collection) || name === 'killCursors') return []
  return filtersOf(name, command)
    .filter((filter) => !namesThreads(filter['thread_id']))
    .map((filter) => [`${collection}.${name}`, ...Object.keys(filter).toSorted()].join(' '))
}

/** One thread, or a list of them: a range would ask every shard. */
function namesThreads(key: unknown): boolean {
  return typeof key === 'string' || (typeof key === 'object' && key !== null && '$in' in key)
}

/** What tells which shards are asked; nothing, if the command is not known here. */
function filtersOf(name: string, command: Record<string, any>): Filter[] {
  switch (name) {
    case 'find':
      return [command['filter'] ?? {}]
    case 'findAndModify':
    case 'count':
    case 'distinct':
      return [command['query'] ?? {}]
    case 'update':
      return command['updates'].map(({ q }: { q: Filter }) => q)
    case 'delete':
      return command['deletes'].map(({ q }: { q: Filter }) => q)
    case 'insert':
      return command['documents'].map(({ thread_id }: Filter) => ({ thread_id }))
    case 'aggregate':
      return [command['pipeline'][0]?.$match ?? {}]
    default:
      return [{}]
  }
}

/** The file whose `await` the command ends. The stack does not tell where a cursor was opened. */
function placeOfStatement(): string {
  const limit = Error.stackTraceLimit
  // The driver and mongoose alone have some thirty frames.
  Error.stackTraceLimit = 200
  const { stack = '' } = new Error('where')
  Error.stackTraceLimit = limit
  for (const frame of stack.split('\n')) {
    const file = /(\/[\w/.-]+\.ts):\d+/.exec(frame)?.[1]
    if (file === undefined || file === import.meta.filename || frame.includes('node_modules')) continue
    const place = path.relative(root, file)
    if (!place.startsWith('..')) return place
  }
  return 'a cursor'
}

/**
 * Hears every command that these connections send. `check` throws when the product has asked every shard by a statement
 * that is not in `listed`; statements of tests do not count.
 */
export function watchShardKeys(databases: Connection[], listed = Object.values(askEveryShard).flat()) {
  const known = listed.map((name) => name.split(' '))
  const unlisted = new Set<string>()
  const isListed = (name: string) => {
    const parts = new Set(name.split(' '))
    return known.some((each) => each.every((part) => parts.has(part)))
  }
  const hear = ({ commandName, command }: { commandName: string; command: Record<string, any> }) => {
    const asked = withoutKey(commandName, command)
    if (asked.length === 0) return
    const place = placeOfStatement()
    if (place.startsWith('test/')) return
    for (const name of asked.map((one) => `${place} ${one}`)) if (!isListed(name)) unlisted.add(name)
  }
  for (const database of databases) database.getClient().on('commandStarted', hear)
  return {
    unlisted: (): string[] => [...unlisted].toSorted(),
    check(): void {
      if (unlisted.size === 0) return
      const names = [...unlisted].toSorted().join('\n')
      unlisted.clear()
      throw new Error(`statements without thread_id that test/support/shard-keys.ts does not list:\n${names}`)
    },
  }
}
