import { loadSettings } from '../../../infra/config.ts'
import { createKnowledge } from '../../../infra/knowledge.ts'
import { createLogger } from '../../../infra/logger.ts'
import { connectDatabase } from '../../../infra/mongo/connect.ts'
import type { ThreadRecord } from '../../../domain/records/thread.ts'
import { createSecretBox } from '../../../services/secrets.ts'
import { createArchivedThreads } from '../../../services/threads/archived/open.ts'
import { createArchiveSweep } from '../../../services/threads/archived/sweep.ts'

/**
 * Archives the thread `THREAD_ID`, two texts an object, or brings it back (`WORK=open`), and dies (SIGKILL) after the step
 * `DIE_AT`, when it is done the time `DIE_TIME`: `write`, `change` (of texts, of one kind of records), `commit` or `delete`.
 */
const settings = loadSettings(process.env)
const { THREAD_ID: threadId = '', WORK: work, DIE_AT: dieAt = '', DIE_TIME: dieTime = '1' } = process.env
const database = await connectDatabase(settings.mongodbUri)
const { blobs: stored } = createKnowledge(settings, database, fetch)

let times = 0

async function step<T>(name: string, execute: () => PromiseLike<T>): Promise<T> {
  const result = await execute()
  if (dieAt === name) times += 1
  if (dieAt === name && times === Number(dieTime)) process.kill(process.pid, 'SIGKILL')
  return result
}

const blobs: typeof stored = {
  ...stored,
  write: (...args) => step('write', () => stored.write(...args)),
  delete: (...args) => step('delete', () => stored.delete(...args)),
}
function withSteps<T extends object>(collection: T): T {
  return new Proxy(collection, {
    get(target, name, receiver) {
      const found: unknown = Reflect.get(target, name, receiver)
      if (name !== 'bulkWrite' || typeof found !== 'function') return found
      return (...args: unknown[]) => step('change', () => found.apply(target, args) as PromiseLike<unknown>)
    },
  })
}
const { checkpoints, runs, toolCalls } = database.collections
const deps = {
  collections: {
    ...database.collections,
    checkpoints: withSteps(checkpoints),
    runs: withSteps(runs),
    toolCalls: withSteps(toolCalls),
  },
  transaction: (execute: Parameters<typeof database.transaction>[0]) =>
    step('commit', () => database.transaction(execute)),
  secretBox: createSecretBox(settings.secretsKey),
  blobs,
} as Omit<Parameters<typeof createArchivedThreads>[0], 'settings' | 'onError'> &
  Parameters<typeof createArchiveSweep>[0]

createLogger('dying-archiver', 'info').info('archiver ready')
if (work === 'open') await createArchivedThreads({ ...deps, settings, onError: console.error }).bringBack(threadId)
else
  await createArchiveSweep({ ...deps, limits: { bytes: 1_000_000, texts: 2 } }).archive(
    await database.collections.threads.findById(threadId).lean<ThreadRecord>().orFail(),
  )
await database.close()
