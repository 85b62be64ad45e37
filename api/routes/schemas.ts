import Type, { type Static, type TSchema } from 'typebox'
import { AnyKey } from '../../domain/any-key.ts'
import { clientIdPattern } from '../../domain/ids.ts'

export { nullable } from '../../domain/nullable.ts'

/** An id in a path; a value with other characters does not match the schema. */
export const PathId = Type.String({ pattern: clientIdPattern, maxLength: 128 })
/** For answers that cannot contain all messages and show the newest. */
export const BeforeMessage = Type.Optional(
  Type.String({ maxLength: 200, description: 'The id of a message: only the messages before it.' }),
)
export const Timestamp = Type.String({ format: 'date-time' })
export const ErrorDetail = Type.Object({ detail: Type.String() }, { title: 'ErrorDetail', about: 'An error.' })
/** A free-form object, which is returned unchanged. */
export const freeForm = (description: string) => Type.Record(AnyKey, Type.Unknown(), { description })

export const ValidationError = Type.Object(
  {
    detail: Type.Array(
      Type.Object({
        loc: Type.Array(Type.Union([Type.String(), Type.Integer()])),
        msg: Type.String(),
        type: Type.String(),
      }),
    ),
  },
  { title: 'ValidationError', about: 'A request that does not match its schema, with the location of each problem.' },
)

type ErrorStatus = 400 | 401 | 402 | 403 | 404 | 405 | 406 | 409 | 413 | 500 | 502 | 503

/** The refusals that a route declares, for its `response`. A 422 is always included. */
export function refusals<const S extends ErrorStatus>(
  ...statuses: S[]
): Record<S, typeof ErrorDetail> & { 422: typeof ValidationError }
export function refusals(...statuses: ErrorStatus[]): Record<number, TSchema> {
  return { 422: ValidationError, ...Object.fromEntries(statuses.map((status) => [status, ErrorDetail])) }
}

/** A person as members of a project see him. */
export const Maker = Type.Object(
  { user_id: Type.String(), name: Type.String() },
  { title: 'Maker', about: 'A person as members of a project see him.' },
)
export const MadeBy = Type.Union([Maker, Type.Null()], {
  description: 'Who made it. Null: his account is gone, or you do not use its project.',
})
export type Makers = ReadonlyMap<string, Static<typeof Maker>>

export function toMaker(makers: Makers, userId: string | undefined): Static<typeof Maker> | null {
  return makers.get(userId ?? '') ?? null
}
