import type { QueryDefinition, SignalDefinition, UpdateDefinition } from '@temporalio/common'
import type { Queue } from './queues.ts'
import { type SearchAttributesOf, searchAttributePairs } from './search-attributes.ts'

/**
 * The declaration of a workflow: how to start it, find it and send it messages. `WorkflowClient` works with these.
 * Declared with `satisfies WorkflowContract<…>`, so that the types of messages are kept.
 */
export interface WorkflowContract<Types extends WorkflowTypes> extends Startable<Types['start'], Types['input']> {
  type: WorkflowType<Types['input'], Types['result']>
  id: (key: Types['key']) => string
  signals?: Signals
  updates?: Updates
  queries?: Queries
}

interface WorkflowTypes {
  /** The members from which the workflow id is made. */
  key: object
  /** What a caller passes to start the workflow: the key, and the members that input and attributes need. */
  start: object
  input: object
  result: unknown
}

export interface Startable<Start, Input = unknown> {
  type: WorkflowType<never, unknown>
  queue: Queue
  id: (start: Start) => string
  input: (start: Start) => Input
  /** One line for Temporal's UI. */
  summary: (start: Start) => string
  /** A sentence for Temporal's UI. */
  details?: (start: Start) => string
  attributes: (start: Start) => SearchAttributesOf<Start>
  /** If true, an id that was used before does not start a second execution. */
  startsOnce?: boolean
}

/** The name under which workers register a workflow, with the types of its function. */
export interface WorkflowType<Input, Result> {
  name: string
  /** Never set. */
  types?: (input: Input) => Promise<Result>
}

export function workflowType<Input, Result>(name: string): WorkflowType<Input, Result> {
  return { name }
}

/** The function that carries out a contract. */
export type WorkflowOf<Contract extends { type: WorkflowType<never, unknown> }> = NonNullable<Contract['type']['types']>

export type Signals = Record<string, SignalDefinition<unknown[]>>
export type Updates = Record<string, UpdateDefinition<unknown, unknown[]>>
export type Queries = Record<string, QueryDefinition<unknown>>

/** The payload of a message: one object, or nothing. */
export type ArgsOf<Message> =
  Message extends SignalDefinition<infer Args extends unknown[]>
    ? Args
    : Message extends UpdateDefinition<unknown, infer Args extends unknown[]>
      ? Args
      : never

export type AnswerOf<Message> =
  Message extends UpdateDefinition<infer Answer, unknown[]>
    ? Answer
    : Message extends QueryDefinition<infer Answer>
      ? Answer
      : never

/** Workflow task timeout. It is short because the work of a killed worker is given to another one only after it. */
const workflowTaskTimeout = '2s'

/**
 * The start options that client, schedule and parent workflow share. Each sets the task queue itself. Where the server
 * supports fairness (`matching.enableFairness`), workers receive the waiting tasks of users in turn.
 */
export function startOptions<Start, Input>(contract: Startable<Start, Input>, start: Start) {
  const args: [Input] = [contract.input(start)]
  const staticDetails = contract.details?.(start)
  const attributes: Partial<Record<'UserId', string>> = contract.attributes(start)
  return {
    workflowId: contract.id(start),
    args,
    workflowTaskTimeout,
    staticSummary: contract.summary(start),
    ...(staticDetails === undefined ? {} : { staticDetails }),
    typedSearchAttributes: searchAttributePairs(contract.attributes(start)),
    ...(attributes.UserId === undefined ? {} : { priority: { fairnessKey: attributes.UserId } }),
  } as const
}
