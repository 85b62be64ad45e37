import { randomUUID } from 'node:crypto'
import { ApplicationFailure, WorkflowFailedError } from '@temporalio/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CleanupInput } from '../../domain/contracts/cleanup.ts'
import {
  type DeletionInput,
  type DeletionPhase,
  type StoreCounts,
  deletionIncompleteType,
} from '../../domain/contracts/deletion.ts'
import { cleanupWorkflow } from '../../workflows/cleanup.ts'
import { deletionWorkflow } from '../../workflows/deletion.ts'
import { recordHistory } from '../support/histories.ts'
import { startTimeSkipping } from '../support/time-skipping.ts'

type Server = Awaited<ReturnType<typeof startTimeSkipping>>

/** Activities that only note what they are asked; `left` says what each erasing leaves. */
function notingActivities({
  left = () => ({}),
  due = () => true,
}: { left?: (round: number, phase: DeletionPhase) => StoreCounts; due?: (id: string) => boolean } = {}) {
  const steps: string[] = []
  let round = 0
  const activities = {
    fenceForDeletion: async ({ id }: DeletionInput) => {
      steps.push(`fence ${id}`)
      return due(id)
    },
    stopForDeletion: async () => {
      round += 1
      steps.push('stop')
    },
    endPayments: async () => void steps.push('end payments'),
    erase: async ({ phase }: { phase: DeletionPhase }) => {
      steps.push(`erase ${phase}`)
      return left(round, phase)
    },
    finishDeletion: async () => void steps.push('finish'),
    failDeletion: async ({ left: rest }: { left: StoreCounts }) => void steps.push(`fail ${JSON.stringify(rest)}`),
  }
  return { steps, activities }
}

describe('the deletion workflow', () => {
  let server: Server
  beforeAll(async () => {
    server = await startTimeSkipping()
  })
  afterAll(() => server.close())

  async function deletion(activities: object, historyName?: string) {
    const taskQueue = randomUUID()
    const input: DeletionInput = { kind: 'account', id: 'u1', receiptId: 'r1' }
    return server.withWorker(taskQueue, activities, async () => {
      const handle = await server.client.workflow.start(deletionWorkflow, {
        taskQueue,
        workflowId: randomUUID(),
        args: [input],
      })
      const result: unknown = await handle.result().catch((error: unknown) => error)
      if (historyName !== undefined) await recordHistory(historyName, await handle.fetchHistory())
      return result
    })
  }

  it('sets the marker, stops runs, erases contents before owners, and finishes', async () => {
    const { steps, activities } = notingActivities()
    expect(await deletion(activities, 'deletion')).toEqual({ outcome: 'deleted', receiptId: 'r1' })
    expect(steps).toEqual(['fence u1', 'stop', 'end payments', 'erase contents', 'erase owners', 'finish'])
  })

  it('erases nothing before the payments have ended, however often that fails', async () => {
    const { steps, activities } = notingActivities()
    let failures = 0
    const endPayments = async () => {
      if (++failures < 20) throw new Error('the payment provider is away')
      steps.push('end payments')
    }
    expect(await deletion({ ...activities, endPayments })).toMatchObject({ outcome: 'deleted' })
    expect(steps).toEqual(['fence u1', 'stop', 'end payments', 'erase contents', 'erase owners', 'finish'])
  })

  it('does nothing if there is nothing to delete', async () => {
    const { steps, activities } = notingActivities({ due: () => false })
    expect(await deletion(activities)).toEqual({ outcome: 'gone', receiptId: 'r1' })
    expect(steps).toEqual(['fence u1'])
  })

  it('repeats the round while something is left, and deletes no owners while contents are left', async () => {
    const { steps, activities } = notingActivities({
      left: (round, phase): StoreCounts =>
        phase === 'contents' ? { files: round === 1 ? 2 : 0 } : { threads: round === 2 ? 1 : 0 },
    })
    expect(await deletion(activities, 'deletion-rounds')).toMatchObject({ outcome: 'deleted' })
    expect(steps).toEqual([
      'fence u1',
      'stop',
      'end payments',
      'erase contents',
      'stop',
      'end payments',
      'erase contents',
      'erase owners',
      'stop',
      'end payments',
      'erase contents',
      'erase owners',
      'finish',
    ])
  })

  it('fails after the last round with the names of what is left, and does not finish', async () => {
    const { steps, activities } = notingActivities({ left: () => ({ vectors: 3, files: 0 }) })
    const error = await deletion(activities, 'deletion-failed')
    expect(error).toBeInstanceOf(WorkflowFailedError)
    const cause = error instanceof WorkflowFailedError ? error.cause : undefined
    expect(cause).toBeInstanceOf(ApplicationFailure)
    expect(cause).toMatchObject({ type: deletionIncompleteType, message: expect.stringContaining('3 vectors') })
    expect(steps.filter((step) => step === 'erase contents')).toHaveLength(6)
    expect(steps.at(-1)).toBe('fail {"vectors":3,"files":0}')
    expect(steps).not.toContain('finish')
  })
})

describe('the cleanup workflow', () => {
  let server: Server
  beforeAll(async () => {
    server = await startTimeSkipping()
  })
  afterAll(() => server.close())

  /** 130 users, of which one came back in time and one cannot be deleted. */
  async function cleanup(input: CleanupInput, historyName?: string) {
    const users = Array.from({ length: 130 }, (_, index) => `u${String(index).padStart(3, '0')}`)
    const { steps, activities } = notingActivities({ due: (id) => id !== 'u007' })
    const taskQueue = randomUUID()
    const all = {
      ...activities,
      fenceForDeletion: async (deletionInput: DeletionInput) => {
        if (deletionInput.id === 'u009') throw ApplicationFailure.nonRetryable('it will not go')
        return activities.fenceForDeletion(deletionInput)
      },
      findUsers: async ({ after, limit }: { after?: string; limit: number }) =>
        users.filter((id) => after === undefined || id > after).slice(0, limit),
      findOwnerless: async () => [{ kind: 'thread', id: 't1', userId: 'u', projectId: 'p' }],
      countOrphans: async () => ({ checkpoints: 4, files: 0 }),
      removeOrphans: async () => void steps.push('remove orphans'),
    }
    const result = await server.withWorker(taskQueue, all, async () => {
      const handle = await server.client.workflow.start(cleanupWorkflow, {
        taskQueue,
        workflowId: randomUUID(),
        args: [input],
      })
      const done: unknown = await handle.result()
      if (historyName !== undefined) await recordHistory(historyName, await handle.fetchHistory())
      return done
    })
    return { result, steps }
  }

  it('goes through all pages, deletes each target by a child, and continues after a failure', async () => {
    const { result, steps } = await cleanup({
      kind: 'inactive-users',
      dryRun: false,
      before: '2026-01-01T00:00:00.000Z',
    })
    expect(result).toEqual({ found: 130, deleted: 128, failed: 1, orphans: {} })
    expect(steps.filter((step) => step === 'finish')).toHaveLength(128)
    // 128 workflows, on a machine that may be busy.
  }, 180_000)

  it('changes nothing in a dry run', async () => {
    const before = '2026-01-01T00:00:00.000Z'
    expect(await cleanup({ kind: 'unverified-users', dryRun: true, before }, 'cleanup-dry-run')).toEqual({
      result: { found: 130, deleted: 0, failed: 0, orphans: {} },
      steps: [],
    })
    expect(await cleanup({ kind: 'orphans', dryRun: true })).toEqual({
      result: { found: 1, deleted: 0, failed: 0, orphans: { checkpoints: 4, files: 0 } },
      steps: [],
    })
  })

  it('deletes orphaned owners before it removes orphaned contents', async () => {
    const { result, steps } = await cleanup({ kind: 'orphans', dryRun: false }, 'cleanup-orphans')
    expect(result).toMatchObject({ found: 1, deleted: 1, failed: 0 })
    expect(steps.at(-2)).toBe('finish')
    expect(steps.at(-1)).toBe('remove orphans')
  })
})
