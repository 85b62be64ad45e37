import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { mongo } from 'mongoose'
import { prepareMongo, startMongo } from '../../../local/services/mongo/index.ts'

/** What the service asks for with each write (`infra/mongo/connect.ts`). */
export const acknowledged = { w: 'majority', journal: true } as const

/** A database server of its own, as `npm start` starts it. */
export async function startDatabase() {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'assistant-mongo-'))
  const { value: server } = await prepareMongo(() => undefined)
  let running = await startMongo({ server, dataDir })
  const clients: mongo.MongoClient[] = []
  const port = Number(new URL(running.url).port)
  return {
    kind: server.kind,
    url: running.url,
    pid: () => running.pid,
    connect(): mongo.Db {
      const client = new mongo.MongoClient(running.url, { maxPoolSize: 50, writeConcern: acknowledged })
      clients.push(client)
      return client.db()
    },
    /** As a crash does it; resolves when the process is gone. */
    async kill(): Promise<void> {
      process.kill(running.pid, 'SIGKILL')
      await running.exited
    },
    /** Starts it again on its data and its port. */
    async restart(): Promise<void> {
      running = await startMongo({ server, dataDir, port })
    },
    async close(): Promise<void> {
      await Promise.all(clients.map((client) => client.close()))
      await running.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

export type TestDatabase = Awaited<ReturnType<typeof startDatabase>>

/** Runs a module's text in a process of its own, with the driver as `mongo` and the database as `db`. */
export async function runInProcess(url: string, code: string): Promise<void> {
  const script = `import { mongo } from 'mongoose'\nconst db = new mongo.MongoClient(${JSON.stringify(url)}).db()\n${code}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  await once(child, 'exit')
}

/** One line of `/proc/{pid}/status`, in MiB. */
export async function memoryMiB(pid: number, line: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${line}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) / 1024
}

/** Processor time that the process has taken, in milliseconds. */
export async function processorMs(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? []
  // Counted in hundredths of a second on every Linux that Node runs on.
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/**
 * Does `work` while `others` goes round and round. Answers how many rounds were over before `work` was, and the part of
 * the time of `work` that the slowest round took.
 */
export async function roundsMeanwhile(work: () => Promise<unknown>, others: () => Promise<unknown>) {
  let rounds = 0
  let slowestMs = 0
  let isOver = false
  const goRound = async () => {
    while (!isOver) {
      const begun = performance.now()
      await others()
      slowestMs = Math.max(slowestMs, performance.now() - begun)
      rounds += 1
    }
  }
  const begun = performance.now()
  const going = goRound()
  await work()
  const tookMs = performance.now() - begun
  const meanwhile = rounds
  isOver = true
  await going
  return { rounds: meanwhile, slowestPart: slowestMs / tookMs }
}

/** Where a lock is held until the work is over, one round is over before it begins, and one may slip in. */
export const minRounds = 3
