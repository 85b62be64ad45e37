import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { writtenBefore } from '../../../domain/responses/written-files.ts'
import type { LoggedMessage } from '../../../services/public/named-threads.ts'
import type { RunOfClient } from '../../../services/v1/runs.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { orNull } from '../../plugins/idempotency.ts'
import { citedWithin } from '../public/compat-objects.ts'
import type { ThreadFamily } from '../public/thread-routes.ts'
import { ListQuery } from '../public/thread-schemas.ts'
import { toV1Message, toV1Thread } from './message-objects.ts'
import { toV1Run } from './run-objects.ts'
import { V1Run } from './run-schemas.ts'
import { IncludeQuery, V1RunStep, includesResults, toV1Step } from './step-objects.ts'
import { V1Message, V1Thread } from './thread-schemas.ts'
import { type V1Deps, operation, v1Config, v1Refusals } from './v1-route.ts'

/** The assistants interface for a project: its own threads. */
export function v1ThreadFamily({ threads, runs, assistants }: V1Deps['v1']) {
  const assistantOf = async (request: FastifyRequest, id: string) =>
    (await orNull(assistants.read(callerOf(request), id))) ?? undefined
  const toRunObject = async (request: FastifyRequest, found: RunOfClient) =>
    toV1Run(found, await assistantOf(request, found.run.assistant_id))

  const family: ThreadFamily<typeof V1Thread, typeof V1Message, typeof V1Run, typeof V1RunStep> = {
    config: v1Config,
    declare: operation,
    refusals: v1Refusals(404),
    prefix: 'V1',
    schemas: { thread: V1Thread, message: V1Message, run: V1Run, step: V1RunStep },
    stepQueries: {
      list: Type.Object({ ...ListQuery.properties, ...IncludeQuery.properties }),
      one: { querystring: IncludeQuery },
    },
    find: { ...threads, owner: callerOf },
    show: {
      thread: toV1Thread,
      async messages(_request, threadId, all, wanted) {
        const assistantIds = await runs.assistantsOf(
          threadId,
          wanted.flatMap(({ runId }) => runId ?? []),
        )
        const cited = citedWithin(all, wanted)
        const written = writtenIn(all)
        return wanted.map((entry) => {
          const owner = { threadId, assistantId: assistantIds.get(entry.runId ?? '') ?? '' }
          const files = { cited: cited(entry), written: written.get(entry.message.data.id) ?? [] }
          return toV1Message(entry, owner, files, (id) => threads.linkOf(threadId, id))
        })
      },
      runs: async (request, listed) =>
        Promise.all((await runs.withCalls(listed)).map((found) => toRunObject(request, found))),
      step: (request, step, messages) => toV1Step(step, { withResults: includesResults(request), messages }),
    },
    async cancel(request, { thread_id: threadId, run_id: runId }) {
      const run = await runs.findControlled(callerOf(request), threadId, runId)
      return toRunObject(request, { run: await runs.cancel(run), calls: [] })
    },
  }
  return { family, assistantOf, toRunObject }
}

/** What code had written before each answer, in its run. */
function writtenIn(all: LoggedMessage[]) {
  const runs = Map.groupBy(all, ({ runId }) => runId)
  return new Map([...runs.values()].flatMap((ofRun) => [...writtenBefore(ofRun.map(({ message }) => message))]))
}
