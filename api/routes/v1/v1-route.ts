import Type, { type TObjectOptions, type TProperties, type TSchema } from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import type { DeletionResult } from '../../../domain/contracts/deletion.ts'
import { V1Error } from '../../plugins/compat-errors.ts'
import type { OpenStreams } from '../../sse/event-stream.ts'

export type V1Deps = Pick<Services, 'v1'>
/** For routes that start or follow runs. */
export type V1RunDeps = V1Deps & { openStreams: OpenStreams }

/** For every route of the family: the service token of a project. */
export const v1Config = { auth: 'project' } as const

export function operation(name: string, summary: string, description?: string) {
  return {
    operationId: `v1.${name}`,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: ['v1'],
  }
}

/** The refusals that a route declares beside those of every route (`api/openapi/operation.ts`). */
export function v1Refusals(
  ...statuses: (402 | 404 | 409 | 413 | 424 | 429 | 499 | 500 | 502 | 503 | 504)[]
): Record<number, TSchema> {
  return Object.fromEntries([400, 401, 403, ...statuses].map((status) => [status, V1Error]))
}

/** An object of a request: as in OpenAI's interface, a member that it does not know is refused. */
export const strict = <T extends TProperties>(members: T, options: TObjectOptions = {}) =>
  Type.Object(members, { ...options, additionalProperties: false })

/** The answer to a deletion. */
export const DeletedAnswer = <const K extends string>(object: K, title: string, about: string) =>
  Type.Object(
    {
      id: Type.String(),
      object: Type.Literal(object),
      deleted: Type.Boolean({ description: 'False while it is still under way; it goes on by itself.' }),
      receipt_id: Type.Optional(Type.String({ description: 'The proof of the deletion: GET /receipts/{receipt_id}.' })),
    },
    { title, about },
  )

export function toDeleted<const K extends string>(object: K, id: string, { status, receiptId }: DeletionResult) {
  return {
    id,
    object,
    deleted: status === 'complete',
    ...(receiptId === undefined ? {} : { receipt_id: receiptId }),
  }
}
