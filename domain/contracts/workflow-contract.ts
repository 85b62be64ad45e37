import {
  type QueryDefinition,
  type SearchAttributePair,
  type SignalDefinition,
  type UpdateDefinition,
  defineSearchAttributeKey,
} from '@temporalio/common'
import { searchAttributeNames } from './search-attribute-names.ts'

/** The task queues. They are separate so that one kind of work cannot delay another. */
export const queues = ['runs', 'documents', 'accounts', 'deletions', 'schedules', 'crawls'] as const
export type Queue = (typeof queues)[number]

/** The queue's name on the Temporal server. The prefix is empty except in tests that share a server. */
export function queueName(queue: Queue, prefix: string): string {
  return `${prefix}${queue}`
}

/**
 * With versioned workers, what a new build means for a workflow under way. `PINNED`: it ends on the build that
 * began it; for workflows that end within hours. `AUTO_UPGRADE`: the new build continues it; for workflows
 * that may take longer. Their changes need `patched()`.
 */
export const versioningOf = {
  runs: 'AUTO_UPGRADE',
  documents: 'AUTO_UPGRADE',
  accounts: 'PINNED',
  deletions: 'PINNED',
  schedules: 'AUTO_UPGRADE',
  crawls: 'AUTO_UPGRADE',
} as const satisfies Record<Queue, string>

type Name = (typeof searchAttributeNames)[number]

/** The attribute of each id. */
interface AttributeOfId {
  userId: 'UserId'
  projectId: 'ProjectId'
  assistantId: 'AssistantId'
  threadId: 'ThreadId'
  runId: 'AgentRunId'
}

/** At least one. */
type SomeAttributes = { [Required in Name]: Record<Required, string> & Partial<Record<Name, string>> }[Name]

/** The search attributes that a workflow with these start members must have: one for each id among them. */
type SearchAttributesOf<Start> = SomeAttributes & {
  [Id in keyof Start as Id extends keyof AttributeOfId ? AttributeOfId[Id] : never]: Start[Id]
}

export function searchAttributeKey(name: Name) {
  return defineSearchAttributeKey<'KEYWORD'>(name, 'KEYWORD')
}

/** The attributes in the form that Temporal's client takes. */
export function searchAttributePairs(values: Partial<Record<Name, string>>): SearchAttributePair[] {
  return searchAttributeNames.flatMap((name) => {
    const value = values[name]
    return value === undefined ? [] : [{ key: searchAttributeKey(name), value }]
  })
}

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

type Signals = Record<string, SignalDefinition<unknown[]>>
type Updates = Record<string, UpdateDefinition<unknown, unknown[]>>
type Queries = Record<string, QueryDefinition<unknown>>

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
