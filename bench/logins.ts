import { mongo } from 'mongoose'
import { newId } from '../domain/ids.ts'
import type { UserRecord } from '../domain/records/user.ts'
import { createPasswords } from '../services/accounts/passwords.ts'
import { createClient } from './client.ts'
import type { BenchContext } from './environment.ts'
import { drive } from './load.ts'
import { newTalk, streamRun } from './runs/talks.ts'
import { quantile, table } from './statistics.ts'

const atOnce = 16
const password = 'correct horse battery staple'
const measureMs = Number(process.env['BENCH_ROUND_SECONDS'] || 10) * 1000

/** Whether others notice that sixteen users log in all the time: hashing a password takes a processor for a while. */
export async function benchLogins(context: BenchContext): Promise<void> {
  const client = createClient(context.url)
  const emails = await plantUsers(context)
  const talk = await newTalk(context, client)
  const requests = {
    'GET /ok': async () => (await client.send('/ok')).whole,
    'first words of /runs/stream': async () => (await streamRun(client, talk)).first,
  }
  const measure = async () => {
    const times = Object.keys(requests).map((): number[] => [])
    const end = performance.now() + measureMs
    while (performance.now() < end)
      for (const [index, request] of Object.values(requests).entries()) times[index]?.push(await request())
    return times.map((of) => ({ median: quantile(of, 0.5), worst: quantile(of, 0.99) }))
  }
  await measure()
  const idle = await measure()
  const logins = drive((slot) => logIn(emails[slot] ?? ''), { atOnce, ms: measureMs })
  const busy = await measure()
  const { perSecond, failed, failure } = await logins
  if (failed > 0) context.log(`\n${failed} logins failed. The first: ${failure}`)
  context.log(`\n### Beside ${atOnce} logins at once, ${perSecond.toFixed(1)} a second (milliseconds)\n`)
  context.log(
    table(
      ['', 'idle: median', 'idle: 99 %', 'meanwhile: median', 'meanwhile: 99 %', 'ratio of 99 % (goal: 3)'],
      Object.keys(requests).map((name, index) => {
        const [before, during] = [idle[index], busy[index]]
        const figures = [
          before?.median,
          before?.worst,
          during?.median,
          during?.worst,
          ratio(during?.worst, before?.worst),
        ]
        return [name, ...figures.map((figure) => (figure ?? Number.NaN).toFixed(1))]
      }),
    ),
  )
  await client.close()

  async function logIn(email: string) {
    return client.send('/auth/login', { method: 'POST', body: { email, password } })
  }
}

/** Verified users, because sign-up sends mails. */
async function plantUsers(context: BenchContext): Promise<string[]> {
  const hash = await createPasswords().hash(password)
  const now = new Date()
  const users = Array.from({ length: atOnce }, (_, index) => ({
    _id: newId(),
    email: `user-${index}@example.com`,
    provider: 'email' as const,
    password_hash: hash,
    verified: true,
    thread_counter: 0,
    thread_max: 1000,
    created_at: now,
    last_active_at: now,
  }))
  const database = new mongo.MongoClient(context.env['MONGODB_URI'] ?? '')
  try {
    await database.db().collection<UserRecord>('users').insertMany(users)
  } finally {
    await database.close()
  }
  return users.map(({ email }) => email)
}

const ratio = (a: number | undefined, b: number | undefined) => (a ?? Number.NaN) / (b ?? Number.NaN)
