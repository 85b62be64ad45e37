import { describe, expect, it } from 'vitest'
import { startProcess } from '../../support/processes.ts'
import { useSharedService } from '../../support/shared-service.ts'
import { insertUser } from '../../support/users.ts'
import {
  archive,
  archiving,
  contentsOf,
  inEntries,
  placesOf,
  recordOf,
  threadWithRun,
} from '../../support/archived-threads.ts'

/** Three entries, an input and a call go, two at a time, into three objects: two entries, an entry and the input, the call. */
const limits = { bytes: 1_000_000, texts: 2 }
const archived = { emptied: 5, objects: 3, isNamed: true }

describe('kill -9 of a process', () => {
  const service = useSharedService()

  async function die(threadId: string, work: string, at: string, time: number): Promise<void> {
    const env = { ...service.env, THREAD_ID: threadId, WORK: work, DIE_AT: at, DIE_TIME: String(time) }
    const dying = await startProcess('test/threads/archived/dying-archiver.ts', env, 'archiver ready')
    await dying.exited
  }

  it.each([
    ['write', 1, { emptied: 0, objects: 1, isNamed: false }],
    ['change', 1, { emptied: 0, objects: 1, isNamed: false }],
    ['commit', 1, { emptied: 2, objects: 1, isNamed: true }],
    ['write', 2, { emptied: 2, objects: 2, isNamed: true }],
    // Of the entry, and of the input.
    ['change', 2, { emptied: 2, objects: 2, isNamed: true }],
    ['change', 3, { emptied: 2, objects: 2, isNamed: true }],
    ['commit', 2, { emptied: 4, objects: 2, isNamed: true }],
    ['change', 4, { emptied: 4, objects: 3, isNamed: true }],
    ['commit', 3, archived],
  ] as const)('that archives a thread, after its %s %i, loses nothing', async (at, time, left) => {
    const user = await insertUser(service)
    const id = await threadWithRun(service, user)
    const before = await contentsOf(service, user, id)
    await die(id, 'archive', at, time)
    expect(await placesOf(service, id)).toEqual(left)
    expect((await recordOf(service, id)).archive?.at !== undefined).toBe(left.emptied === archived.emptied)
    // Another process goes on where it was ended.
    const isContinued = await archiving(service, { limits }).sweep.archive(await recordOf(service, id))
    expect(isContinued).toBe(left.emptied < archived.emptied)
    expect(await placesOf(service, id)).toMatchObject({ emptied: archived.emptied, isNamed: true })
    expect(await contentsOf(service, user, id)).toBe(before)
    expect(await placesOf(service, id)).toMatchObject({ emptied: 0, isNamed: false })
  })

  it.each([
    ['change', 1, archived],
    // Of the texts, and of the name.
    ['commit', 1, { emptied: 3, objects: 3, isNamed: true }],
    ['commit', 2, { emptied: 3, objects: 3, isNamed: true }],
    ['delete', 1, { emptied: 3, objects: 2, isNamed: true }],
    ['change', 2, { emptied: 3, objects: 2, isNamed: true }],
    ['change', 3, { emptied: 3, objects: 2, isNamed: true }],
    ['commit', 3, { emptied: 1, objects: 2, isNamed: true }],
    ['change', 4, { emptied: 1, objects: 1, isNamed: true }],
    ['commit', 5, { emptied: 0, objects: 1, isNamed: true }],
    ['commit', 6, { ...inEntries, objects: 1 }],
    ['delete', 3, inEntries],
  ] as const)('that brings a thread back, after its %s %i, loses nothing', async (at, time, left) => {
    const user = await insertUser(service)
    const id = await threadWithRun(service, user)
    const before = await contentsOf(service, user, id)
    expect(await archiving(service, { limits }).sweep.archive(await recordOf(service, id))).toBe(true)
    expect(await placesOf(service, id)).toEqual(archived)
    await die(id, 'open', at, time)
    expect(await placesOf(service, id)).toEqual(left)
    expect(await contentsOf(service, user, id)).toBe(before)
    expect(await placesOf(service, id)).toMatchObject({ emptied: 0, isNamed: false })
    // It can be archived again, whatever was left.
    await archive(service, id)
    expect(await contentsOf(service, user, id)).toBe(before)
  })

  it.each([
    ['commit', 1],
    ['change', 3],
    ['commit', 5],
  ] as const)('that brings a thread back, after its %s %i, lets the sweep archive it again', async (at, time) => {
    const user = await insertUser(service)
    const id = await threadWithRun(service, user)
    const before = await contentsOf(service, user, id)
    expect(await archiving(service, { limits }).sweep.archive(await recordOf(service, id))).toBe(true)
    await die(id, 'open', at, time)
    const half = await recordOf(service, id)
    expect(half.archive?.at).toBeUndefined()
    expect(half.opened_at).toBeInstanceOf(Date)
    // Texts that were back already are in two objects now.
    await archive(service, id)
    expect(await placesOf(service, id)).toMatchObject({ emptied: archived.emptied, isNamed: true })
    expect(await contentsOf(service, user, id)).toBe(before)
    expect(await placesOf(service, id)).toEqual({ ...inEntries, objects: expect.any(Number) })
  })
})
