import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { parseForeignJson } from '../../../domain/foreign-json.ts'
import { requestLimits } from '../../../domain/limits.ts'

const JsonRpcId = Type.Union([Type.String({ maxLength: 200 }), Type.Integer()])

/** What an event id of an `ask` says, so that any process can go on with the answer. */
const Position = Type.Object({
  run: Type.String({ maxLength: requestLimits.foreignIdLength }),
  /** Of the request whose answer this is. */
  id: JsonRpcId,
  /** As the client gave it, to be told of progress. */
  token: Type.Optional(JsonRpcId),
  /** Characters of the answer that the client knows of. */
  progress: Type.Integer({ minimum: 0 }),
})
export type Position = Static<typeof Position>

const maxBytes = 4096

/** An opaque text without line ends. It grants nothing: whoever resumes must be the run's caller. */
export function eventIdOf(position: Position): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url')
}

/** Undefined for anything that is not an event id of ours. */
export function positionOf(eventId: string): Position | undefined {
  if (eventId.length > maxBytes) return undefined
  try {
    const parsed = parseForeignJson(Buffer.from(eventId, 'base64url').toString(), { bytes: maxBytes })
    return Value.Check(Position, parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}
