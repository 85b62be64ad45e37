import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import type { Static, TObject, TSchema } from 'typebox'
import { AppError } from '../../../domain/errors.ts'
import type { Message } from '../../../domain/messages.ts'
import type { ThreadRecord } from '../../../domain/records/thread.ts'
import { pageOf } from '../../../services/cursor-page.ts'
import type { LoggedMessage, NamedThreads } from '../../../services/public/named-threads.ts'
import type { ThreadOwner } from '../../../services/public/store.ts'
import type { ListedRun } from '../../../services/runs/index.ts'
import { isShown, listPage } from './compat-objects.ts'
import { listedStepId, stepsOf } from './run-steps.ts'
import {
  type CompatRunStep,
  ListQuery,
  MessageListQuery,
  RunStepParams,
  ThreadMessageParams,
  ThreadParams,
  ThreadRunParams,
  listOf,
} from './thread-schemas.ts'

type Shown<T extends TSchema> = Static<T> & { id: string }

/**
 * Where the assistants interface is mounted. `/v1` and the public family have the same routes to read threads, messages,
 * runs and steps; this is what differs: how a route is declared, whose threads it finds, and how it shows them.
 */
export interface ThreadFamily<
  Thread extends TSchema = TSchema,
  Entry extends TSchema = TSchema,
  Run extends TSchema = TSchema,
  Step extends TSchema = TSchema,
> {
  config: FastifyContextConfig
  declare(name: string, summary: string): { operationId: string; summary: string; tags: string[]; headers?: TSchema }
  refusals: Record<number, TSchema>
  /** The beginning of the names of its schemas. */
  prefix: string
  schemas: { thread: Thread; message: Entry; run: Run; step: Step }
  /** The queries of routes that show steps. */
  stepQueries: { list: TObject<(typeof ListQuery)['properties']>; one: { querystring?: TSchema } }
  find: Pick<NamedThreads, 'read' | 'messages' | 'runs' | 'findRun' | 'messagesOfRun'> & {
    owner(request: FastifyRequest): ThreadOwner
  }
  show: {
    thread(thread: ThreadRecord): Shown<Thread>
    /** Some of the messages `all` of a thread. */
    messages(
      request: FastifyRequest,
      threadId: string,
      all: LoggedMessage[],
      wanted: LoggedMessage[],
    ): Promise<Shown<Entry>[]>
    runs(request: FastifyRequest, runs: ListedRun[]): Promise<Shown<Run>[]>
    /** `messages` are those of the run. */
    step(request: FastifyRequest, step: CompatRunStep, messages: () => Message[]): Shown<Step>
  }
  /** Cancels a run and shows it. */
  cancel(request: FastifyRequest, ids: { thread_id: string; run_id: string }): Promise<Static<Run>>
}

type Routes = FastifyPluginAsyncTypebox<{ family: ThreadFamily }>

export const threadReadRoutes: Routes = async (app, { family }) => {
  const { config, declare, schemas, refusals, find, show } = family
  app.get(
    '/threads/:thread_id',
    {
      config,
      schema: {
        ...declare('threads.read', 'Read a thread'),
        params: ThreadParams,
        response: { 200: schemas.thread, ...refusals },
      },
    },
    async (request) => show.thread(await find.read(find.owner(request), request.params.thread_id)),
  )
}

export const messageReadRoutes: Routes = async (app, { family }) => {
  const { config, declare, schemas, refusals, find, show } = family
  app.get(
    '/threads/:thread_id/messages',
    {
      config,
      schema: {
        ...declare('threads.messages.list', 'The messages of a thread'),
        params: ThreadParams,
        querystring: MessageListQuery,
        response: { 200: listOf(schemas.message, `${family.prefix}MessageList`, 'A page of messages.'), ...refusals },
      },
    },
    async (request) => {
      const { thread_id: threadId } = request.params
      const { run_id: runId, ...page } = request.query
      const all = await find.messages(find.owner(request), threadId)
      const shown = all.filter((entry) => isShown(entry) && (runId === undefined || entry.runId === runId))
      const { entries, hasMore } = pageOf(shown, ({ message }) => message.data.id, page)
      return listPage({ entries: await show.messages(request, threadId, all, entries), hasMore })
    },
  )

  app.get(
    '/threads/:thread_id/messages/:message_id',
    {
      config,
      schema: {
        ...declare('threads.messages.read', 'Read one message'),
        params: ThreadMessageParams,
        response: { 200: schemas.message, ...refusals },
      },
    },
    async (request) => {
      const { thread_id: threadId, message_id: messageId } = request.params
      const all = await find.messages(find.owner(request), threadId)
      const found = all.find((entry) => isShown(entry) && entry.message.data.id === messageId)
      if (found === undefined) throw new AppError('not_found', 'There is no such message.')
      return (await show.messages(request, threadId, all, [found]))[0]
    },
  )
}

export const runListRoutes: Routes = async (app, { family }) => {
  const { config, declare, schemas, refusals, find, show } = family
  app.get(
    '/threads/:thread_id/runs',
    {
      config,
      schema: {
        ...declare('threads.runs.list', 'The runs of a thread'),
        params: ThreadParams,
        querystring: ListQuery,
        response: { 200: listOf(schemas.run, `${family.prefix}RunList`, 'A page of runs.'), ...refusals },
      },
    },
    async (request) => {
      const { entries, hasMore } = await find.runs(find.owner(request), request.params.thread_id, request.query)
      return listPage({ entries: await show.runs(request, entries), hasMore })
    },
  )
}

export const oneRunRoutes: Routes = async (app, { family }) => {
  const { config, declare, schemas, refusals, find, show } = family
  app.get(
    '/threads/:thread_id/runs/:run_id',
    {
      config,
      schema: {
        ...declare('threads.runs.read', 'Read a run'),
        params: ThreadRunParams,
        response: { 200: schemas.run, ...refusals },
      },
    },
    async (request) => {
      const { thread_id: threadId, run_id: runId } = request.params
      return (await show.runs(request, [await find.findRun(find.owner(request), threadId, runId)]))[0]
    },
  )

  app.post(
    '/threads/:thread_id/runs/:run_id/cancel',
    {
      config,
      schema: {
        ...declare('threads.runs.cancel', 'Cancel a run; a run that has ended does not change'),
        params: ThreadRunParams,
        response: { 200: schemas.run, ...refusals },
      },
    },
    (request) => family.cancel(request, request.params),
  )
}

export const stepRoutes: Routes = async (app, { family }) => {
  const { config, declare, schemas, refusals, stepQueries, find, show } = family
  app.get(
    '/threads/:thread_id/runs/:run_id/steps',
    {
      config,
      schema: {
        ...declare('threads.runs.steps.list', 'The steps of a run'),
        params: ThreadRunParams,
        querystring: stepQueries.list,
        response: { 200: listOf(schemas.step, `${family.prefix}RunStepList`, 'A page of run steps.'), ...refusals },
      },
    },
    async (request) => listPage(pageOf(await steps(request, request.params), ({ id }) => id, request.query)),
  )

  app.get(
    '/threads/:thread_id/runs/:run_id/steps/:step_id',
    {
      config,
      schema: {
        ...declare('threads.runs.steps.read', 'Read a step of a run'),
        params: RunStepParams,
        ...stepQueries.one,
        response: { 200: schemas.step, ...refusals },
      },
    },
    async (request) => {
      const wanted = listedStepId(request.params.step_id)
      const found = (await steps(request, request.params)).find(({ id }) => id === wanted)
      if (found === undefined) throw new AppError('not_found', 'There is no such step.')
      return found
    },
  )

  async function steps(request: FastifyRequest, ids: { thread_id: string; run_id: string }) {
    const owner = find.owner(request)
    const run = await find.findRun(owner, ids.thread_id, ids.run_id)
    const logged = await find.messagesOfRun(owner, run)
    const messages = () => logged.map(({ message }) => message)
    return stepsOf(run, logged).map((step) => show.step(request, step, messages))
  }
}
