import type { Records, Report } from './evidence.ts'
import { chunksIn, contentIn } from './files.ts'
import type { StoredRecord } from './stores.ts'

/** Every counter equals a recount, no record lacks its owner, and no deletion marker is left. */
export function checkCounters(records: Records, report: Report): void {
  const of = (name: string) => records.get(name) ?? []
  const sums = <T>(all: StoredRecord[], key: string, add: (sum: T | undefined, record: StoredRecord) => T) => {
    const result = new Map<string, T>()
    for (const record of all) result.set(String(record[key]), add(result.get(String(record[key])), record))
    return result
  }
  const count = (sum: number | undefined) => (sum ?? 0) + 1
  const expectEqual = (what: string, counted: unknown, recounted: unknown) => {
    const [is, mustBe] = [Number(counted ?? 0), Number(recounted ?? 0)]
    if (is !== mustBe) report('wrong', `${what} is ${is}, a recount gives ${mustBe}`)
  }

  const threadsOf = sums(
    of('threads').filter((thread) => thread['public'] !== true),
    'user_id',
    count,
  )
  for (const user of of('users'))
    expectEqual(
      `thread_counter of user ${String(user['_id'])}`,
      user['thread_counter'],
      threadsOf.get(String(user['_id'])),
    )

  const entriesOf = sums(of('checkpoints'), 'thread_id', count)
  const highestOf = sums<number>(of('checkpoints'), 'thread_id', (highest = 0, entry) =>
    Math.max(highest, Number(entry['seq'])),
  )
  const bytesOf = sums<number>(
    of('checkpoints'),
    'thread_id',
    (sum = 0, entry) => sum + Buffer.byteLength(String(entry['messages_json'])),
  )
  for (const thread of of('threads')) {
    const id = String(thread['_id'])
    expectEqual(`last_seq of thread ${id}`, thread['last_seq'], highestOf.get(id))
    expectEqual(`the number of entries of thread ${id}`, thread['last_seq'], entriesOf.get(id))
    expectEqual(`log_bytes of thread ${id}`, thread['log_bytes'], bytesOf.get(id))
  }

  const chunksOf = sums<number>(of('chunks'), 'file_id', (sum = 0, group) => sum + chunksIn(group).length)
  for (const file of of('files')) {
    if (file['status'] !== 'ready') continue
    expectEqual(`chunks of file ${String(file['_id'])}`, file['chunks'], chunksOf.get(contentIn(file)))
    expectEqual(`embedded of file ${String(file['_id'])}`, file['embedded'], file['chunks'])
  }
  const piecesOf = sums(of('blobs.chunks'), 'files_id', count)
  for (const blob of of('blobs.files')) {
    // A blob whose upload was interrupted has no length; the nightly sweep removes it.
    // One that was joined of others, or is in a bucket, has no pieces of its own.
    if (blob['length'] === undefined || blob['parts'] !== undefined || blob['store'] !== undefined) continue
    expectEqual(
      `pieces of blob ${String(blob['_id'])}`,
      piecesOf.get(String(blob['_id'])),
      Math.ceil(Number(blob['length']) / Number(blob['chunkSize'])),
    )
  }

  const owners: [string, string, string][] = [
    ['projects', 'user_id', 'users'],
    ['assistants', 'project_id', 'projects'],
    ['threads', 'project_id', 'projects'],
    ['runs', 'thread_id', 'threads'],
    ['checkpoints', 'thread_id', 'threads'],
    ['tool_calls', 'run_id', 'runs'],
    ['files', 'assistant_id', 'assistants'],
    ['chunks', 'file_id', 'files'],
  ]
  for (const [name, member, owner] of owners) {
    // Chunks stay after the file that was read, as long as copies use them.
    const known = new Set(of(owner).flatMap((record) => [String(record['_id']), contentIn(record)]))
    for (const record of of(name))
      if (!known.has(String(record[member])))
        report('wrong', `${name} ${String(record['_id'])} has no ${owner}: ${String(record[member])}`)
  }
  for (const name of ['users', 'projects', 'assistants', 'threads'])
    for (const record of of(name))
      if (record['deleting'] === true) report('wrong', `${name} ${String(record['_id'])} is marked as being deleted`)
}
