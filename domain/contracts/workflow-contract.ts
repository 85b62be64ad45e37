import type { QueryDefinition, SignalDefinition, UpdateDefinition } from '@temporalio/common'
import type { Queue } from './queues.ts'
import { type SearchAttributesOf, searchAttributePairs } from './search-attributes.ts'

/**
 * All that the service knows of a workflow: `WorkflowClient` takes from it how to start the workflow,
 * find it and send it messages. Declared with `satisfies WorkflowContract<…>`, so that the messages
 * keep their own types.
 */
export interface WorkflowContract<Types extends WorkflowTypes> extends Startable<Types['start'], Types['input']> {
  type: WorkflowType<Types['input'], Types['result']>
  id: (key: Types['key']) => string
  signals?: Signals
  updates?: Updates
  queries?: Queries
}

interface WorkflowTypes {
  /** What the id is made of. */
  key: object
  /** What a caller gives to start the workflow: the key, and what the input and the attributes need. */
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
  /** Whether an id that was used once starts no second execution. */
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

/** What comes with a message: one object, or nothing. */
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

/**
 * How long a worker may take over one workflow task. Short, because it is also how long the work of
 * a killed worker stays with it.
 */
const workflowTaskTimeout = '2s'

/** What client, schedule and parent workflow give Temporal to start a workflow. The task queue is theirs to say. */
export function startOptions<Start, Input>(contract: Startable<Start, Input>, start: Start) {
  const args: [Input] = [contract.input(start)]
  const staticDetails = contract.details?.(start)
  return {
    workflowId: contract.id(start),
    args,
    workflowTaskTimeout,
    staticSummary: contract.summary(start),
    ...(staticDetails === undefined ? {} : { staticDetails }),
    typedSearchAttributes: searchAttributePairs(contract.attributes(start)),
  } as const
}
