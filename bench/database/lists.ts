import { mongo } from 'mongoose'
import { newId } from '../../domain/ids.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { BenchContext } from '../environment.ts'
import { quantile, table } from '../statistics.ts'
import { newUser } from './user.ts'

const few = 100
const many = Number(process.env['BENCH_LIST_THREADS'] || 10_000)
const deletedThreads = [100, 10_000]
const readings = 10
const atOnce = 1000

/** What a page of a list costs among many threads, and what the deletion of 10,000 threads costs for each. */
export async function benchLists(context: BenchContext): Promise<void> {
  const client = new mongo.MongoClient(context.env['MONGODB_URI'] ?? '')
  try {
    const threads = client.db().collection<ThreadRecord>('threads')
    await benchPages(context, threads)
    await benchDeletions(context, threads)
  } finally {
    await client.close()
  }
}

type Threads = mongo.Collection<ThreadRecord>

async function benchPages(context: BenchContext, threads: Threads): Promise<void> {
  const [small, large] = [await newUser(context), await newUser(context)]
  await plant(threads, small, few)
  await plant(threads, large, many)
  const users = [
    { user: small, count: few },
    { user: large, count: many },
  ]
  const first = () => '/threads/'
  const middle = (count: number) => `/threads/?offset=${count / 2}`
  const pages = {
    'first page': { pathOf: first, isChanged: false },
    'page in the middle': { pathOf: middle, isChanged: false },
    'first page after a new thread': { pathOf: first, isChanged: true },
    'page in the middle after a new thread': { pathOf: middle, isChanged: true },
  }
  const rows: string[][] = []
  // The database of `npm start` counts a long list only when it is first read.
  const unread: string[] = []
  for (const { user, count } of users) {
    const startedAt = performance.now()
    await user.call('GET', middle(count))
    unread.push((performance.now() - startedAt).toFixed(1))
  }
  rows.push(['page in the middle, first reading', ...unread, '', '', ''])
  for (const [name, { pathOf, isChanged }] of Object.entries(pages)) {
    const measured = users.map((owner) => ({ ...owner, times: new Array<number>(), processorMs: 0 }))
    for (let reading = -2; reading < readings; reading++)
      for (const one of measured) {
        if (isChanged) await one.user.call('POST', '/threads/', {})
        const processorBefore = await context.database.processorMs()
        const startedAt = performance.now()
        await one.user.call('GET', pathOf(one.count))
        if (reading < 0) continue
        one.times.push(performance.now() - startedAt)
        one.processorMs += (await context.database.processorMs()) - processorBefore
      }
    const [fast = Number.NaN, slow = Number.NaN] = measured.map(({ times }) => quantile(times, 0.5))
    const processor = measured.map(({ processorMs }) => (processorMs / readings).toFixed(2))
    rows.push([name, fast.toFixed(1), slow.toFixed(1), (slow / fast).toFixed(2), ...processor])
  }
  context.log(`\n### A page of threads (milliseconds, medians of ${readings})\n`)
  const heads = ['', `of ${few}`, `of ${many}`, 'ratio (goal: 1.5)', 'database, processor time', `… of ${many}`]
  context.log(table(heads, rows))
}

async function benchDeletions(context: BenchContext, threads: Threads): Promise<void> {
  const rows: string[][] = []
  const each: number[] = []
  for (const count of deletedThreads) {
    const user = await newUser(context)
    const { project_id: projectId } = await plant(threads, user, count)
    const startedAt = performance.now()
    await user.call('DELETE', `/projects/${projectId}?confirm=true`)
    while ((await threads.countDocuments({ project_id: projectId })) > 0)
      await new Promise((next) => setTimeout(next, 50))
    const taken = performance.now() - startedAt
    each.push(taken / count)
    rows.push([String(count), (taken / 1000).toFixed(2), (taken / count).toFixed(2)])
  }
  context.log('\n### Deletion of a project\n')
  context.log(table(['threads', 'seconds', 'milliseconds for each'], rows))
  context.log(`\nRatio for each: ${((each[1] ?? 0) / (each[0] ?? 1)).toFixed(2)} (goal: 1.1)`)
}

/** Threads as the API creates them, copied from one that it has created. */
async function plant(
  threads: Threads,
  user: Awaited<ReturnType<typeof newUser>>,
  count: number,
): Promise<{ project_id: string }> {
  const { thread_id: id } = await user.call('POST', '/threads/', {})
  const model = await threads.findOne({ _id: String(id) })
  if (model === null) throw new Error('the thread is not in the database')
  for (let start = 1; start < count; start += atOnce) {
    const copies = Array.from({ length: Math.min(atOnce, count - start) }, (_, index) => ({
      ...model,
      _id: newId(),
      updated_at: new Date(model.updated_at.getTime() - start - index),
    }))
    await threads.insertMany(copies)
  }
  return model
}
