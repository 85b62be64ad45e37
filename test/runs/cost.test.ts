import { setImmediate as nextTurn } from 'node:timers/promises'
import type { WorkflowHandle } from '@temporalio/client'
import type { Connection } from 'mongoose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { threadContract } from '../../domain/contracts/thread.ts'
import { newId } from '../../domain/ids.ts'
import { apiClient } from '../support/api-client.ts'
import { startHttpServer } from '../support/http-server.ts'
import { type ModelService, startModelService } from '../support/model-service.ts'
import { conversation } from './support.ts'

interface Costs {
  /** Commands of the database, the commits of transactions included. */
  statements: number
  /** Writes that wait for the journal: transactions, and writes outside of them. */
  commits: number
  redisCommands: number
  /** Calls that the server of Temporal answers, polls that bring a task included. */
  temporalCalls: number
  workflowTasks: number
  events: number
}

/** What one streamed answer on an idle thread may cost. Time and processor time of a run follow these counts. */
const oneAnswer: Costs = {
  statements: 11,
  commits: 2,
  redisCommands: 5,
  temporalCalls: 3,
  workflowTasks: 1,
  events: 8,
}
/**
 * With one call of a tool, and the further step of the model that reads its result. Each step tells Redis what it asks
 * before the first token, so that it is paid should its process die.
 */
const withTool: Costs = {
  statements: 20,
  commits: 5,
  redisCommands: 11,
  temporalCalls: 6,
  workflowTasks: 2,
  events: 13,
}

/**
 * Statements of a streamed chat completion of a public caller, whose thread is stored with its run. Not counted: the one
 * that finds the assistant by the token.
 */
const statementsOfCompletion = 8
/** With `store: false`: the thread and what belongs to it go in one transaction, and no workflow begins. */
const statementsOfErasure = 9

describe('the cost of a run', () => {
  let target: Awaited<ReturnType<typeof startHttpServer>>
  let service: ModelService

  beforeAll(async () => {
    target = await startHttpServer(async (_request, response) => {
      response.end('Sunny.')
    })
    service = await startModelService({
      worker: false,
      env: { RUNS_IN_API: 'true', OUTBOUND_ALLOW: '127.0.0.1/32' },
      respond: ({ body: { messages } }) => {
        const last = messages.at(-1)
        if (last?.role !== 'user' || last.content !== 'Weather?') return { text: 'One two three.' }
        const args = { method: 'GET', url: target.url }
        return { toolCalls: [{ id: 'call', name: 'http_request', arguments: args }] }
      },
    })
  })
  afterAll(async () => {
    await service.close()
    await target.close()
  })

  it('stays within its limits on an idle thread', () => expectWithin(oneAnswer, 'Count'))

  it('stays within its limits with a tool', () =>
    expectWithin(withTool, 'Weather?', { 'type==agent/tools': [{ type: 'http_request' }] }))

  it('stays within its limits for a chat completion of a public caller', async () => {
    const token = `cost-${newId()}`
    const open = { 'type==agent/access_mode': 'public_token', 'type==agent/public_token': token }
    const talk = await conversation(service, open)
    const caller = apiClient(service.url, token)
    const complete = async (more = {}) => {
      const messages = [{ role: 'user', content: 'Count' }]
      const response = await caller.fetch('POST', '/public/v1/chat/completions', {
        model: 'm',
        messages,
        stream: true,
        ...more,
      })
      expect(await response.text()).toContain('[DONE]')
    }
    for (let index = 0; index < 2; index++) await complete()
    const { runs } = service.collections
    const before = await runs.distinct('_id', { assistant_id: talk.assistantId })
    const database = watchDatabase(service.databases, [talk.client.projectId, talk.assistantId])
    await complete()
    database.stop()
    const run = await runs.findOne({ assistant_id: talk.assistantId, _id: { $nin: before } }).lean()
    expect(run).not.toBeNull()
    const statements = database.statements([run?._id ?? '', run?.thread_id ?? ''])
    expect(statements).toBeGreaterThan(0)
    expect(statements).toBeLessThanOrEqual(statementsOfCompletion)

    const unstored = watchDatabase(service.databases, [talk.client.projectId, talk.assistantId])
    await complete({ store: false })
    const [threadId = ''] = unstored.inserted('threads')
    await expect.poll(() => service.collections.threads.exists({ _id: threadId }), { timeout: 20_000 }).toBeNull()
    unstored.stop()
    const all = unstored.statements([...unstored.inserted('runs'), threadId])
    // The test itself has asked for the thread.
    const own = all - unstored.reads('threads', threadId)
    expect(own).toBeGreaterThan(statements)
    expect(own).toBeLessThanOrEqual(statementsOfCompletion + statementsOfErasure)
    const deletion = service.temporal.workflow.getHandle(`thread-deletion/${threadId}`)
    await expect(deletion.describe()).rejects.toThrow('not found')
    expect(await service.collections.receipts.countDocuments({ subject_id: threadId })).toBe(0)
  })

  async function expectWithin(limits: Costs, question: string, config = {}): Promise<void> {
    const talk = await conversation(service, config)
    const workflow = service.temporal.workflow.getHandle(threadContract.id({ threadId: talk.threadId }))
    // The first runs fill caches and load scripts.
    for (const words of ['Hello', question]) {
      expect((await talk.stream(words)).end).toBe('end')
      await workflow.result()
    }
    const ids = [talk.client.userId, talk.client.projectId, talk.assistantId, talk.threadId]
    const database = watchDatabase(service.databases, ids)
    const redis = await watchRedis(service)

    const run = await talk.stream(question)
    expect(run.end).toBe('end')
    await workflow.result()
    await service.collections.runs.findById(run.runId)
    await nextTurn()

    const counts: Costs = {
      ...database.counts(run.runId),
      ...(await redis.counts(run.runId)),
      ...(await temporalCosts(workflow)),
    }
    database.stop()
    expect(counts.statements).toBeGreaterThan(0)
    const exceeded = Object.keys(limits).filter((name) => counts[name as keyof Costs] > limits[name as keyof Costs])
    expect(exceeded, `measured: ${JSON.stringify(counts)}`).toEqual([])
  }
})

async function temporalCosts(
  workflow: WorkflowHandle,
): Promise<Pick<Costs, 'temporalCalls' | 'workflowTasks' | 'events'>> {
  const { events = [] } = await workflow.fetchHistory()
  const all = events ?? []
  const count = (isOne: (event: (typeof all)[number]) => unknown) => all.filter((event) => isOne(event)).length
  const isEager = all[0]?.workflowExecutionStartedEventAttributes?.eagerExecutionAccepted === true
  const workflowTasks = count((event) => event.workflowTaskStartedEventAttributes)
  const temporalCalls =
    1 +
    workflowTasks -
    (isEager ? 1 : 0) +
    count((event) => event.workflowTaskCompletedEventAttributes) +
    count((event) => event.activityTaskStartedEventAttributes) +
    count((event) => event.activityTaskCompletedEventAttributes)
  return { temporalCalls, workflowTasks, events: all.length }
}

const writes = new Set(['insert', 'update', 'delete', 'findAndModify'])

/** Notes the commands that name one of `ids`, and the ends of transactions. */
function watchDatabase(databases: Connection[], ids: string[]) {
  const seen: { name: string; command: Record<string, any>; text: string; isJournalled: boolean }[] = []
  const note = ({ commandName: name, command }: { commandName: string; command: Record<string, any> }) => {
    const isJournalled = !('autocommit' in command) && command['writeConcern']?.j !== false
    seen.push({ name, command, text: JSON.stringify(command), isJournalled })
  }
  for (const database of databases) database.getClient().on('commandStarted', note)
  const ownOf = (more: string[]) =>
    seen.filter(({ name, text }) => name === 'commitTransaction' || [...ids, ...more].some((id) => text.includes(id)))
  return {
    statements: (more: string[]) => ownOf(more).length,
    /** The ids of the records that were inserted into a collection. */
    inserted: (collection: string): string[] =>
      seen.flatMap(({ name, command }) => {
        if (name !== 'insert' || command['insert'] !== collection) return []
        return command['documents'].map(({ _id }: { _id: string }) => _id)
      }),
    reads: (collection: string, id: string) =>
      seen.filter(
        ({ name, command }) => name === 'find' && command['find'] === collection && command['filter']?._id === id,
      ).length,
    counts(runId: string) {
      const own = ownOf([runId])
      // The test itself has read the run once.
      const statements = own.length - 1
      const commits = own.filter(
        ({ name, isJournalled }) => name === 'commitTransaction' || (writes.has(name) && isJournalled),
      ).length
      return { statements, commits }
    },
    stop() {
      for (const database of databases) database.getClient().off('commandStarted', note)
    },
  }
}

/** Notes what clients ask of Redis. */
async function watchRedis({ redis }: ModelService) {
  const monitor = redis.duplicate()
  monitor.on('error', () => undefined)
  await monitor.connect()
  const lines: string[] = []
  await monitor.monitor((line) => lines.push(String(line)))
  return {
    async counts(runId: string) {
      await redis.set('cost-test', runId)
      while (!lines.some((line) => line.includes('"cost-test"'))) await nextTurn()
      monitor.destroy()
      const own = lines.filter(
        (line) => line.includes(runId) && !line.includes('"cost-test"') && !/^[\d.]+ \[\d+ lua\]/.test(line),
      )
      return { redisCommands: own.length }
    },
  }
}
