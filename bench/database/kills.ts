import { setTimeout as pause } from 'node:timers/promises'
import type { BenchContext } from '../environment.ts'
import { newUser } from './user.ts'

const kills = 10
const writers = 8
const betweenMs = 3_000

/**
 * Threads are created through the API while the database is killed again and again. Each creation is a transaction
 * that raises a counter on the user's record too, so that a half-applied one can be detected.
 */
export async function benchKills(context: BenchContext): Promise<void> {
  const users = await Promise.all(Array.from({ length: writers }, () => newUser(context)))
  const acknowledged = users.map(() => [] as string[])
  let refused = 0
  let isOver = false
  const longest = { ms: 0 }
  const writing = users.map(async (user, index) => {
    let latest = performance.now()
    while (!isOver) {
      try {
        const { thread_id: id } = await user.call('POST', '/threads/', {})
        acknowledged[index]?.push(String(id))
        longest.ms = Math.max(longest.ms, performance.now() - latest)
        latest = performance.now()
      } catch {
        refused++
        await pause(20)
      }
    }
  })
  const rounds: number[] = []
  for (let kill = 0; kill < kills; kill++) {
    const before = acknowledged.flat().length
    await pause(betweenMs)
    const pid = context.database.pid()
    process.kill(pid, 'SIGKILL')
    while (context.database.pid() === pid) await pause(20)
    rounds.push(acknowledged.flat().length - before)
  }
  await pause(betweenMs)
  isOver = true
  await Promise.all(writing)

  let lost = 0
  let more = 0
  for (const [index, user] of users.entries()) {
    const own = acknowledged[index] ?? []
    for (const id of own) {
      await user.call('GET', `/threads/${id}`).catch((error: unknown) => {
        if (!String(error).includes('answered 404')) throw error
        lost++
      })
    }
    const { total } = await user.call('GET', '/threads/?limit=1')
    // A creation whose answer was lost may exist, but was not acknowledged.
    more += Number(total) - own.length
  }
  context.log(`\n### ${kills} kills of the database under creations of threads, ${writers} at a time\n`)
  context.log(
    `${acknowledged.flat().length} acknowledged (${rounds.join(', ')} before each kill), ${lost} of them lost (goal: 0). ${refused} refused or cut off, of which ${more} are there all the same. Longest time without a creation: ${(longest.ms / 1000).toFixed(1)} s.`,
  )
}
