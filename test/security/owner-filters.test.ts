// Before a change: docs/traps.md, What else changes with a change.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { watchEstate } from '../support/estate.ts'
import { type RunningService, type TestService, startService } from '../support/service.ts'
import {
  billingKeys,
  type CrossRequest,
  type Operation,
  type Side,
  createSide,
  judge,
  operationsOf,
  requestsOf,
} from './cross-user-requests.ts'
import { type Mutant, type Mutation, mutateStatements } from './mutate-statements.ts'

/**
 * Statements whose owner may be left out, because the same request has checked the owner before, or
 * checks again. A second line of defence is welcome; it cannot be seen from outside.
 */
const secondChecks: [statement: string, why: string][] = [
  [
    'services/assistants/file-sources.ts assistants.find without project_id',
    'finds stores by name: test/assistants/assistant-files.test.ts asks with the name of another project',
  ],
  [
    'services/assistants/write-assistants.ts assistants.findOne without user_id',
    'reads which assistants it may ask already; the write that follows names the user',
  ],
  [
    'services/assistants/project-of-assistant.ts budgets.findOne of any user_id',
    'finds the budget of the project of the token',
  ],
  ['services/budgets/index.ts budgets.findById of any user_id', 'the owner of its project or assistant was checked'],
  ['services/budgets/spent-today.ts assistants.find without user_id', 'the owner of the project was checked'],
  ['services/budgets/spent-today.ts projects.findById of any user_id', 'the owner of the project was checked'],
  [
    'services/budgets/spent-today.ts runs.find without assistant_id',
    'of what is found, only runs of the own assistants are kept',
  ],
  ['services/knowledge/reembedding.ts assistants.findOne of any user_id', 'the assistant was read as the own before'],
  ['services/knowledge/stored-chunks.ts chunks.find without assistant_id', 'the file was found in the own assistant'],
  ['services/public/index.ts runs.findOne of any user_id', 'the token of the assistant of the run decides'],
  [
    'services/threads/write-threads.ts threads.exists without user_id',
    'says only why an update of the own thread found none',
  ],
  ['services/threads/read-threads.ts threads.find without user_id', 'lists the project of the token, which is the own'],
  ['services/threads/read-threads.ts threads.countDocuments without user_id', 'counts the same list'],
  [
    'services/threads/unused-home-thread.ts projects.findOne without user_id',
    'reads the project of the token, which is the own',
  ],
  ['services/threads/status.ts runs.find without thread_id', 'assigns each run to its thread by id'],
  ['services/threads/shares.ts shares.findOne without user_id', 'the thread was read as the own before'],
  ['services/threads/shares.ts shares.find without user_id', 'lists the project of the token, which is the own'],
  ['services/threads/shares.ts shares.find without project_id', 'names the user'],
  ['services/threads/shares.ts threads.find without user_id', 'names threads of the own links'],
  ['services/knowledge/store-entries.ts files.exists without assistant_id', 'the file was found in the own store'],
  ['services/public/find-thread.ts threads.findOne without project_id', 'names the user, and the other way round'],
  ['services/public/find-thread.ts threads.findOne without user_id', 'names the project'],
  ['services/public/threads.ts threads.findOneAndUpdate without project_id', 'names the user'],
  ['services/public/threads.ts threads.findOneAndUpdate without user_id', 'names the project'],
  ['services/schedules/read-schedules.ts schedules.find without user_id', 'lists the project of the token'],
  ['services/schedules/triggered-runs.ts runs.find without thread_id', 'names the runs of the own schedule'],
  ['services/schedules/triggered-runs.ts runs.find without user_id', 'names the runs of the own schedule'],
  ['services/schedules/triggered-runs.ts scheduleRuns.find without user_id', 'the schedule was read as the own before'],
  [
    'services/sources/index.ts receipts.exists without user_id',
    'says only that the deletion of a source is under way, whose id nobody else knows',
  ],
  [
    'services/sources/read-sources.ts sourcePages.countDocuments without user_id',
    'names the source, which was read as the own before',
  ],
  [
    'services/sources/read-sources.ts sourcePages.find without user_id',
    'names the source, which was read as the own before',
  ],
  [
    'services/v1/containers.ts attachments.findOne without thread_id',
    'test/v1/code-interpreter.test.ts asks for the file of another container',
  ],
  ['services/v1/containers.ts threads.find without project_id', 'names the user'],
  ['services/v1/containers.ts threads.find without user_id', 'lists the project of the token, which is the own'],
  ['services/v1/conversations.ts threads.findOneAndUpdate without project_id', 'names the user'],
  ['services/v1/conversations.ts threads.findOneAndUpdate without user_id', 'names the project'],
  ['services/v1/remove-item.ts runs.findOne without thread_id', 'names the user'],
  ['services/v1/remove-item.ts runs.findOne without user_id', 'names the thread, which was found as the own'],
  ['services/v1/responses/find-items.ts runs.findOne without project_id', 'the thread of the item is checked too'],
  ['services/v1/responses/find-items.ts runs.findOne without user_id', 'the thread of the item is checked too'],
  ['services/v1/responses/find-items.ts threads.exists without project_id', 'names the user'],
  ['services/v1/responses/find-items.ts threads.exists without user_id', 'names the project'],
]

/** So long a stream is read that should not have been opened. */
const streamMs = 1_500

describe('a statement without its owner filter', () => {
  let service: TestService
  let mutation: Mutation
  let operations: Operation[]

  beforeAll(async () => {
    service = await startService({
      worker: false,
      env: {
        OPENAI_API_KEY: 'sk-test',
        OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
        DELETION_WAIT_SECONDS: '1',
        ...billingKeys,
      },
    })
    operations = await operationsOf(service)
    mutation = mutateStatements(service.collections)
  })
  afterAll(async () => {
    mutation.restore()
    // Some have lost the key of the shards as well.
    expect(() => service.checkShardKeys()).toThrow('without thread_id')
    await service.close()
  })

  it('is detected by the requests with the ids of another user', { timeout: 300_000 }, async () => {
    let sides = await newSides(service)
    let requests = requestsOf(operations, sides.own, sides.other)
    const answers = new Map<string, string>()
    const requestsOfMutant = new Map<string, { mutant: Mutant; labels: Set<string> }>()
    for (const request of requests) {
      const { answer, mutants } = await mutation.record(() => judge(service, request, sides.own, sides.other))
      expect(answer.wrong).toEqual([])
      answers.set(request.label, plain(answer.text, sides.own))
      for (const mutant of mutants) {
        const entry = requestsOfMutant.get(mutant.name) ?? { mutant, labels: new Set() }
        entry.labels.add(request.label)
        requestsOfMutant.set(mutant.name, entry)
      }
    }
    expect(requestsOfMutant.size).toBeGreaterThan(20)

    const unnoticed: string[] = []
    let watched = await watchEstate(service, sides.other.estate)
    for (const { mutant, labels } of requestsOfMutant.values()) {
      const noticed = await mutation.with({ ...mutant, caller: sides.own.estate.userId }, () =>
        firstAsync(
          requests.filter(({ label }) => labels.has(label)),
          (request) => isNoticed(request),
        ),
      )
      const changed = await watched.hasChanged()
      if (!noticed && !changed) unnoticed.push(mutant.name)
      if (!changed) continue
      watched.end()
      sides = await newSides(service)
      requests = requestsOf(operations, sides.own, sides.other)
      watched = await watchEstate(service, sides.other.estate)
    }
    watched.end()
    const withoutLines = unnoticed.map((name) => name.replace(/:\d+ /, ' '))
    expect(withoutLines.toSorted(), unnoticed.join('\n')).toEqual(secondChecks.map(([name]) => name).toSorted())

    async function isNoticed(request: CrossRequest): Promise<boolean> {
      const { wrong, text } = await judge(service, request, sides.own, sides.other, streamMs)
      return wrong.length > 0 || plain(text, sides.own) !== answers.get(request.label)
    }
  })
})

async function newSides(service: RunningService): Promise<{ own: Side; other: Side }> {
  return {
    own: await createSide(service, `mine-${newId()}`),
    other: await createSide(service, `only-for-the-owner-${newId()}`, { hasOpenRun: true }),
  }
}

/** An answer without what differs between two equal requests of two equal users. */
function plain(text: string, { marker }: Side): string {
  return text
    .replaceAll(marker, 'mine')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
    .replaceAll(/eyJ[\w.-]+/g, 'token')
}

async function firstAsync<T>(items: T[], test: (item: T) => Promise<boolean>): Promise<boolean> {
  for (const item of items) if (await test(item)) return true
  return false
}
