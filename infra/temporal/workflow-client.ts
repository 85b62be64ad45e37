import {
  type Client,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client'
import {
  ApplicationFailure,
  type QueryDefinition,
  type SignalDefinition,
  type UpdateDefinition,
} from '@temporalio/common'
import {
  type AnswerOf,
  type ArgsOf,
  type Startable,
  type WorkflowType,
  queueName,
  searchAttributeKey,
  startOptions,
} from '../../domain/contracts/workflow-contract.ts'
import type {
  Addressed,
  Messages,
  UpdateOutcome,
  WorkflowClient,
  WorkflowEnd,
  WorkflowState,
} from '../../services/workflow-client.ts'
import type { Settings } from '../config.ts'
import { createPatientCalls } from './patient-calls.ts'
import { isUnanswered, unavailable } from './unanswered.ts'

/** Calls Temporal; all calls of workflows go through it. */
export function createWorkflowClient(
  { client, eagerClient }: { client: Client; eagerClient(): Client | undefined },
  settings: Pick<Settings, 'dependencyTimeoutSeconds'> & StartSettings,
): WorkflowClient {
  const call = createPatientCalls(settings)
  const connection: Connection = { client, patiently: (ask, by = client) => call(by, ask) }
  return {
    ...createStarts({ ...connection, eagerClient, settings }),
    ...createMessages(connection),
    ...createStates(connection),
  }
}

interface Connection {
  client: Client
  patiently<T>(ask: () => Promise<T>, by?: Client): Promise<T>
}

type StartSettings = Pick<Settings, 'taskQueuePrefix' | 'runTaskTimeoutSeconds'>

interface StartConnection extends Connection {
  eagerClient(): Client | undefined
  settings: StartSettings
}

function optionsOf<Start, Input>(
  { taskQueuePrefix, runTaskTimeoutSeconds }: StartSettings,
  contract: Startable<Start, Input>,
  start: Start,
  taskTimeoutMs = runTaskTimeoutSeconds * 1000,
) {
  return {
    ...startOptions(contract, start),
    taskQueue: queueName(contract.queue, taskQueuePrefix),
    ...(contract.queue === 'runs' ? { workflowTaskTimeout: taskTimeoutMs } : {}),
    ...(contract.startsOnce ? { workflowIdReusePolicy: 'REJECT_DUPLICATE' as const } : {}),
  }
}

type Starts = 'start' | 'startNew' | 'signalWithStart' | 'updateWithStart'

function createStarts({ client, eagerClient, patiently, settings }: StartConnection): Pick<WorkflowClient, Starts> {
  return {
    async start<Start>(contract: Startable<Start>, start: NoInfer<Start>): Promise<void> {
      const options = { ...optionsOf(settings, contract, start), workflowIdConflictPolicy: 'USE_EXISTING' as const }
      try {
        await patiently(() => client.workflow.start(contract.type.name, options))
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
      }
    },

    async startNew<Start>(
      contract: Startable<Start>,
      start: NoInfer<Start>,
      { taskTimeoutMs }: { taskTimeoutMs?: number | undefined } = {},
    ): Promise<'started' | 'eager' | 'already_running'> {
      const eager = eagerClient()
      const options = {
        ...optionsOf(settings, contract, start, taskTimeoutMs),
        workflowIdConflictPolicy: 'FAIL' as const,
        requestEagerStart: eager !== undefined,
      }
      const starter = eager ?? client
      try {
        const handle = await patiently(() => starter.workflow.start(contract.type.name, options), starter)
        return handle.eagerlyStarted ? 'eager' : 'started'
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return 'already_running'
        throw error
      }
    },

    async signalWithStart<Start, All extends Messages<All, SignalDefinition<unknown[]>>, Name extends keyof All>(
      contract: Startable<Start> & { signals: All },
      start: NoInfer<Start>,
      name: Name,
      ...args: ArgsOf<All[Name]>
    ): Promise<void> {
      const signalArgs: unknown[] = args
      const options = { ...optionsOf(settings, contract, start), signal: contract.signals[name].name, signalArgs }
      await patiently(() => client.workflow.signalWithStart(contract.type.name, options))
    },

    updateWithStart<Start, All extends Messages<All, UpdateDefinition<unknown, unknown[]>>, Name extends keyof All>(
      contract: Startable<Start> & { updates: All },
      start: NoInfer<Start>,
      name: Name,
      ...args: ArgsOf<All[Name]>
    ): Promise<UpdateOutcome<AnswerOf<All[Name]>>> {
      const startWorkflowOperation = new WithStartWorkflowOperation(contract.type.name, {
        ...optionsOf(settings, contract, start),
        workflowIdConflictPolicy: 'USE_EXISTING',
      })
      const update = contract.updates[name].name
      return outcomeOf(
        patiently(() => client.workflow.executeUpdateWithStart(update, { startWorkflowOperation, args })),
      )
    },
  }
}

function createMessages({ client, patiently }: Connection): Pick<WorkflowClient, 'signal' | 'update' | 'query'> {
  return {
    async signal<Key, All extends Messages<All, SignalDefinition<unknown[]>>, Name extends keyof All>(
      contract: Addressed<Key> & { signals: All },
      key: NoInfer<Key>,
      name: Name,
      ...args: ArgsOf<All[Name]>
    ): Promise<boolean> {
      const handle = client.workflow.getHandle(contract.id(key))
      return wasFound(patiently(() => handle.signal(contract.signals[name].name, ...args)))
    },

    update<Key, All extends Messages<All, UpdateDefinition<unknown, unknown[]>>, Name extends keyof All>(
      contract: Addressed<Key> & { updates: All },
      key: NoInfer<Key>,
      name: Name,
      ...[message]: ArgsOf<All[Name]>
    ): Promise<UpdateOutcome<AnswerOf<All[Name]>>> {
      const handle = client.workflow.getHandle(contract.id(key))
      const update = contract.updates[name].name
      return outcomeOf(patiently(() => handle.executeUpdate(update, { args: [message] })))
    },

    async query<Key, All extends Messages<All, QueryDefinition<unknown>>, Name extends keyof All>(
      contract: Addressed<Key> & { queries: All },
      key: NoInfer<Key>,
      name: Name,
    ): Promise<AnswerOf<All[Name]> | undefined> {
      const handle = client.workflow.getHandle(contract.id(key))
      try {
        return await patiently(() => handle.query(contract.queries[name].name))
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return undefined
        throw error
      }
    },
  }
}

function createStates({ client, patiently }: Connection): Pick<WorkflowClient, 'result' | 'state' | 'terminate'> {
  return {
    async result<Key, Result>(
      contract: Addressed<Key> & { type: WorkflowType<never, Result> },
      key: NoInfer<Key>,
      { waitMs, signal }: { waitMs: number; signal?: AbortSignal },
    ): Promise<WorkflowEnd<Result>> {
      const handle = client.workflow.getHandle<() => Promise<Result>>(contract.id(key))
      const limit = AbortSignal.any([AbortSignal.timeout(waitMs), ...(signal === undefined ? [] : [signal])])
      try {
        return { status: 'completed', result: await client.withAbortSignal(limit, () => handle.result()) }
      } catch (error) {
        if (limit.aborted) return { status: 'running' }
        if (error instanceof WorkflowFailedError) return { status: 'failed', cause: error }
        if (error instanceof WorkflowNotFoundError) return { status: 'not_found' }
        throw isUnanswered(error) ? unavailable(error) : error
      }
    },

    async state<Key>(contract: Addressed<Key>, key: NoInfer<Key>): Promise<WorkflowState> {
      const handle = client.workflow.getHandle(contract.id(key))
      try {
        const { status, closeTime, typedSearchAttributes } = await patiently(() => handle.describe())
        if (status.name === 'RUNNING')
          return { status: 'running', runId: typedSearchAttributes.get(searchAttributeKey('AgentRunId')) }
        return { status: status.name === 'COMPLETED' ? 'completed' : 'broken_off', closedAt: closeTime }
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return { status: 'not_found' }
        throw error
      }
    },

    terminate<Key>(contract: Addressed<Key>, key: NoInfer<Key>, reason: string): Promise<boolean> {
      const handle = client.workflow.getHandle(contract.id(key))
      return wasFound(patiently(() => handle.terminate(reason)))
    },
  }
}

async function wasFound(call: Promise<unknown>): Promise<boolean> {
  try {
    await call
    return true
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false
    throw error
  }
}

/** The failure type that the SDK gives an update whose workflow ended before it answered. */
const endedBeforeAnswer = 'AcceptedUpdateCompletedWorkflow'

async function outcomeOf<Answer>(call: Promise<Answer>): Promise<UpdateOutcome<Answer>> {
  try {
    return { status: 'answered', answer: await call }
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { status: 'not_running' }
    if (!(error instanceof WorkflowUpdateFailedError) || !(error.cause instanceof ApplicationFailure)) throw error
    const { type } = error.cause
    if (type === endedBeforeAnswer) return { status: 'not_running' }
    if (typeof type !== 'string') throw error
    return { status: 'refused', type, cause: error }
  }
}
