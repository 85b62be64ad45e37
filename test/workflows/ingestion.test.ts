import { randomUUID } from 'node:crypto'
import { heartbeat, sleep } from '@temporalio/activity'
import { ApplicationFailure } from '@temporalio/common'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type EmbedStepResult,
  type ExtractStepResult,
  type FileStepInput,
  type IngestionInput,
  ingestionContract,
  readerFailedType,
} from '../../domain/contracts/ingestion.ts'
import { ingestionWorkflow } from '../../workflows/ingestion.ts'
import { eventually } from '../support/eventually.ts'
import { recordHistory } from '../support/histories.ts'
import { startTimeSkipping } from '../support/time-skipping.ts'

const hourMs = 3_600_000

const outage = (retryAfterMs?: number) =>
  ApplicationFailure.create({ message: 'The store is away.', type: 'unavailable', details: [retryAfterMs] })
/** As it comes when Temporal's own repetitions are at their end. */
const longOutage = () =>
  ApplicationFailure.create({ message: 'The store is away.', type: 'unavailable', nonRetryable: true })
const bug = () => ApplicationFailure.create({ message: 'unexpected failure (TypeError)', type: 'internal' })
const readerDied = () =>
  ApplicationFailure.create({ message: 'The reader died.', type: readerFailedType, nonRetryable: true })
const refusal = () =>
  ApplicationFailure.create({ message: 'The model refused the request.', type: 'model_error', nonRetryable: true })

/**
 * What a step is told: how often it was called, for which file, when; a look at the workflow's details, and a way to
 * delete the file.
 */
interface Call {
  number: number
  fileId: string
  hours: number
  details: () => Promise<string>
  deleteFile: () => Promise<void>
}
interface Script {
  extract?: (call: Call) => void | ExtractStepResult | Promise<void | ExtractStepResult>
  embed?: (call: Call) => EmbedStepResult | Promise<EmbedStepResult>
}

/** A step that works until it is cancelled. */
async function untilCancelled(): Promise<never> {
  for (;;) {
    heartbeat()
    await sleep(50)
  }
}

describe('the ingestion workflow', () => {
  let server: Awaited<ReturnType<typeof startTimeSkipping>>
  beforeAll(async () => {
    server = await startTimeSkipping()
  })
  afterAll(() => server.close())

  async function ingest(script: Script, input: Partial<IngestionInput> = {}, historyName?: string) {
    const taskQueue = randomUUID()
    const workflowId = randomUUID()
    const handle = server.client.workflow.getHandle(workflowId)
    const startedAt = await server.now()
    const numbers = { extract: 0, embed: 0 }
    const failed = new Map<string, string>()
    const gone = new Set<string>()
    const steps: string[] = []
    const call = async (step: 'extract' | 'embed', { fileId }: FileStepInput): Promise<Call> => ({
      number: ++numbers[step],
      fileId,
      hours: ((await server.now()) - startedAt) / hourMs,
      details: async () => JSON.stringify(await handle.query('__temporal_workflow_metadata')),
      deleteFile: async () => {
        gone.add(fileId)
        await handle.signal(ingestionContract.signals.fileDeleted, { fileId })
      },
    })
    const activities = {
      extractFile: async (file: FileStepInput) => (await script.extract?.(await call('extract', file))) ?? 'done',
      embedFile: async (file: FileStepInput) => {
        if (gone.has(file.fileId)) return 'gone'
        if (failed.has(file.fileId)) return 'failed'
        return script.embed ? script.embed(await call('embed', file)) : 'ready'
      },
      failFile: async ({ fileId, reason }: FileStepInput & { reason: string }) => void failed.set(fileId, reason),
      reopenFile: async ({ fileId, retry }: FileStepInput & { retry: number }) =>
        void steps.push(`reopen ${fileId} ${retry}`),
    }
    return server.withWorker(taskQueue, activities, async () => {
      await server.client.workflow.start(ingestionWorkflow, {
        taskQueue,
        workflowId,
        args: [{ ingestionId: 'i', assistantId: 'a', fileIds: ['f'], patienceHours: 168, ...input }],
      })
      const result: unknown = await handle.result()
      const history = await handle.fetchHistory()
      if (historyName !== undefined) await recordHistory(historyName, history)
      // The server's own clock runs on while the client hears of the end, on a busy machine by years.
      const [first, last] = [0, -1].map((place) => Number(history.events?.at(place)?.eventTime?.seconds))
      const hours = (Number(last) - Number(first)) / 3600
      return { result, numbers, steps, hours, failed: Object.fromEntries(failed), events: history.events?.length ?? 0 }
    })
  }

  it('waits during a day without stores, and shows it in its details', async () => {
    let said = ''
    const { result, failed, hours, events } = await ingest({
      embed: async ({ hours: now, details }): Promise<EmbedStepResult> => {
        if (now > 12) said = await details()
        if (now < 24) throw longOutage()
        return 'ready'
      },
    })
    expect(said).toMatch(/File f waits: The store is away. Next try at [\dT:.-]+Z/)
    expect(result).toEqual({ ready: 1, failed: 0, gone: 0 })
    expect(failed).toEqual({})
    expect(hours).toBeGreaterThanOrEqual(24)
    expect(events).toBeLessThan(3000)
  })

  it('continues to read and embed after an outage of both', async () => {
    const { result, failed } = await ingest(
      {
        extract: ({ hours: now }) => {
          if (now < 1) throw outage()
        },
        embed: ({ hours: now }) => {
          if (now < 1) throw outage()
          return 'ready'
        },
      },
      {},
      'ingestion-outage',
    )
    expect(result).toEqual({ ready: 1, failed: 0, gone: 0 })
    expect(failed).toEqual({})
  })

  it('fails a file when the waiting time is over, and continues with the next', async () => {
    const { result, failed, hours } = await ingest(
      {
        extract: ({ fileId }) => {
          if (fileId === 'first') throw longOutage()
        },
      },
      { fileIds: ['first', 'second'], patienceHours: 5 },
    )
    expect(result).toEqual({ ready: 1, failed: 1, gone: 0 })
    expect(failed).toEqual({ first: 'The store is away.' })
    expect(hours).toBeGreaterThan(5)
    // Skipped time runs ahead on a busy machine; without an end it would be a week.
    expect(hours).toBeLessThan(24)
  })

  it('waits as long as a server asks', async () => {
    const { result, hours } = await ingest({
      embed: ({ number }) => {
        if (number <= 5) throw outage(3 * hourMs)
        return 'ready'
      },
    })
    expect(result).toEqual({ ready: 1, failed: 0, gone: 0 })
    expect(hours).toBeGreaterThan(3)
  })

  it('repeats a step that fails for unknown reasons a few times, and does not show its error', async () => {
    const survived = await ingest({
      extract: ({ number }) => {
        if (number <= 12) throw bug()
      },
    })
    expect(survived.result).toEqual({ ready: 1, failed: 0, gone: 0 })
    const { result, failed, numbers } = await ingest({
      extract: () => {
        throw bug()
      },
    })
    expect(result).toEqual({ ready: 0, failed: 1, gone: 0 })
    expect(failed).toEqual({ f: 'An unexpected error occurred.' })
    expect(numbers.extract).toBe(15)
  })

  it('reads a file three times when its reader dies', async () => {
    const { failed, numbers } = await ingest({
      extract: () => {
        throw readerDied()
      },
    })
    expect(failed).toEqual({ f: 'The reader died.' })
    expect(numbers.extract).toBe(3)
  })

  it('does not repeat a refused step', async () => {
    const { failed, numbers } = await ingest({
      embed: () => {
        throw refusal()
      },
    })
    expect(failed).toEqual({ f: 'The model refused the request.' })
    expect(numbers.embed).toBe(1)
  })

  it('checks a file without newly extracted chunks less and less often', async () => {
    const { numbers, hours } = await ingest({
      extract: async ({ hours: now }) => {
        if (now < 1) throw longOutage()
      },
      embed: ({ hours: now }) => (now < 1 ? 'waiting' : 'ready'),
    })
    expect(hours).toBeGreaterThanOrEqual(1)
    expect(numbers.embed).toBeLessThan(400)
  })

  it('does not look for chunks of a file whose turn to be read has not come', async () => {
    const { result, numbers, hours } = await ingest(
      {
        extract: async ({ hours: now }): Promise<ExtractStepResult> => (now < 0.2 ? 'busy' : 'done'),
        embed: ({ hours: now }) => (now < 0.2 ? 'waiting' : 'ready'),
      },
      {},
      'ingestion-queued',
    )
    expect(result).toEqual({ ready: 1, failed: 0, gone: 0 })
    expect(hours).toBeGreaterThanOrEqual(0.2)
    // Only the extraction asks again and again.
    expect(numbers.extract).toBeGreaterThan(5)
    expect(numbers.embed).toBeLessThan(numbers.extract / 2)
  })

  it('continues with the next file at once when a waiting file is deleted', async () => {
    const { result, failed, numbers } = await ingest(
      {
        extract: ({ fileId }) => {
          if (fileId === 'first') throw longOutage()
        },
        embed: async ({ fileId, details, deleteFile }): Promise<EmbedStepResult> => {
          if (fileId !== 'first') return 'ready'
          await eventually('the pause of the extraction', async () => (await details()).includes('File first waits'))
          await deleteFile()
          return untilCancelled()
        },
      },
      { fileIds: ['first', 'second'] },
      'ingestion-file-deleted',
    )
    expect(result).toEqual({ ready: 1, failed: 0, gone: 1 })
    expect(failed).toEqual({})
    // One of each file: the first file's was not tried again.
    expect(numbers.extract).toBe(2)
  })

  it('does nothing for a file that is deleted before its turn', async () => {
    const extracted: string[] = []
    let isSecondCancelled = false
    const { result } = await ingest(
      {
        extract: async ({ fileId, deleteFile }) => {
          extracted.push(fileId)
          if (fileId !== 'second') return
          await deleteFile()
          await untilCancelled().finally(() => {
            isSecondCancelled = true
          })
        },
        // The first file's turn ends when the workflow knows of the deletion. This server, unlike the real one,
        // refuses to cancel a step that ends in the same moment.
        embed: async ({ fileId }): Promise<EmbedStepResult> => {
          if (fileId === 'first') await eventually('the end of the second', () => isSecondCancelled)
          return 'ready'
        },
      },
      { fileIds: ['first', 'second', 'third'] },
    )
    expect(result).toEqual({ ready: 2, failed: 0, gone: 1 })
    expect(extracted.toSorted()).toEqual(['first', 'second', 'third'])
  })

  it('resets a failed file before it is processed again', async () => {
    const { steps, result } = await ingest({}, { retry: 2 }, 'ingestion-retry')
    expect(steps).toEqual(['reopen f 2'])
    expect(result).toEqual({ ready: 1, failed: 0, gone: 0 })
  })
})
