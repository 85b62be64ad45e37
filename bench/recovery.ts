import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createTokens } from '../services/auth/tokens.ts'
import type { BenchContext } from './environment.ts'
import { table } from './statistics.ts'

const rounds = 3

interface Addresses {
  api: string
  mailbox: string
  processes: Record<string, number>
}

/** Kills each server and process of an `npm start` of its own, and waits until it serves its earlier data. */
export async function benchRecovery(context: Pick<BenchContext, 'log'>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'assistant-recovery-'))
  const jwtSecret = randomBytes(32).toString('hex')
  const begun = performance.now()
  const main = spawn(process.execPath, ['local/start.ts'], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], DATA_DIR: dataDir, PORT: '0', JWT_SECRET: jwtSecret },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const addresses = async (): Promise<Addresses> =>
    JSON.parse(await readFile(join(dataDir, 'addresses.json'), 'utf8')) as Addresses
  try {
    while (!(await addresses().catch(() => undefined))) {
      if (main.exitCode !== null) throw new Error('npm start ended')
      await pause(50)
    }
    const startSeconds = (performance.now() - begun) / 1000
    const { api, mailbox } = await addresses()
    const tokens = createTokens({
      jwtAlgorithms: ['HS256'],
      jwtIssuer: 'assistant-platform',
      jwtAudience: 'assistant-platform',
      jwtSecret,
    })
    const token = await tokens.sign({ user_id: crypto.randomUUID(), project_id: crypto.randomUUID() })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const made = await fetch(`${api}/threads/`, { method: 'POST', headers, body: '{}' })
    const { thread_id: threadId } = (await made.json()) as { thread_id: string }
    let mails = 0
    /** A mail is sent by a workflow: it needs Temporal, the worker and the mailbox. */
    const signUp = async () => {
      const body = JSON.stringify({ email: `${crypto.randomUUID()}@example.com`, password: 'a good long password' })
      const json = { 'content-type': 'application/json' }
      const { ok } = await fetch(`${api}/auth/signup`, { method: 'POST', headers: json, body })
      if (ok) mails++
      return ok
    }
    const hasMails = async () => {
      const all = (await (await fetch(`${mailbox}/email`)).json()) as unknown[]
      return all.length >= mails
    }
    const isReady = async () => (await fetch(`${api}/ready`)).ok
    const hasThread = async () => (await fetch(`${api}/threads/${threadId}`, { headers })).ok
    const serves: Record<string, () => Promise<boolean>> = {
      redis: isReady,
      mongodb: hasThread,
      temporal: async () => (await isReady()) && signUp(),
      mailbox: hasMails,
      api: hasThread,
      worker: hasMails,
    }
    await until(signUp)
    await until(hasMails)

    const seconds: Record<string, number[]> = {}
    for (let round = 0; round < rounds; round++) {
      for (const [name, check] of Object.entries(serves)) {
        const pid = (await addresses()).processes[name] ?? 0
        const killedAt = performance.now()
        process.kill(pid, 'SIGKILL')
        if (name === 'worker') await signUp()
        await until(async () => (await addresses()).processes[name] !== pid)
        await until(check)
        ;(seconds[name] ??= []).push((performance.now() - killedAt) / 1000)
        await until(hasMails)
        await pause(2_000)
      }
    }
    context.log(`\n### npm start after kill -9, until it serves what it held (seconds; goal: 3)\n`)
    context.log(
      table(
        ['', ...Array.from({ length: rounds }, (_, round) => `round ${round + 1}`)],
        Object.entries(seconds).map(([name, all]) => [name, ...all.map((value) => value.toFixed(1))]),
      ),
    )
    context.log(
      `\nThe first start took ${startSeconds.toFixed(1)} s. Load at the end: ${loadavg()[0]?.toFixed(2)}. Of a worker, the time until a mail arrived that was asked for after its death; of Temporal, until a sign-up was taken.`,
    )
  } finally {
    main.kill('SIGINT')
    if (main.exitCode === null && main.signalCode === null) await once(main, 'exit')
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 })
  }
}

async function until(check: () => Promise<boolean>): Promise<void> {
  while (!(await check().catch(() => false))) await pause(20)
}
