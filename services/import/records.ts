import Type, { type Static, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { AnyKey } from '../../domain/any-key.ts'
import { foreignJsonDepth, parseForeignJson } from '../../domain/foreign-json.ts'
import { requestLimits } from '../../domain/limits.ts'
import { Message, TokenUsage } from '../../domain/messages.ts'
import { runStatuses } from '../../domain/records/run.ts'
import { wrongArchive } from './read-tar.ts'

/** The records of an archive, as `services/export/user-archive.ts` writes them. Other members are ignored. */
const id = Type.String({ minLength: 1, maxLength: 128 })
const name = Type.String({ maxLength: requestLimits.nameLength })
const time = Type.String({ pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$`, maxLength: 40 })
const freeForm = Type.Record(AnyKey, Type.Unknown())
const messages = Type.Array(Message, { maxItems: 10_000 })

export const ArchivedProject = Type.Object({
  project_id: id,
  name,
  description: Type.String({ maxLength: requestLimits.textLength }),
  created_at: time,
})
export const ArchivedAssistant = Type.Object({
  assistant_id: id,
  project_id: id,
  name,
  config: freeForm,
  created_at: time,
})
export const ArchivedThread = Type.Object({
  thread_id: id,
  project_id: id,
  assistant_id: Type.Optional(id),
  name,
  public: Type.Boolean(),
  last_outcome: Type.Optional(Type.Enum(['none', 'success', 'error'])),
  metadata: freeForm,
  created_at: time,
  updated_at: time,
})
export const ArchivedEntry = Type.Object({
  thread_id: id,
  seq: Type.Integer({ minimum: 1 }),
  source: Type.Enum(['input', 'step', 'tools', 'update']),
  run_id: Type.Optional(id),
  step: Type.Optional(Type.Integer({ minimum: -10_000, maximum: 10_000 })),
  messages,
  created_at: time,
})
export const ArchivedRun = Type.Object({
  run_id: id,
  thread_id: id,
  assistant_id: id,
  status: Type.Enum([...runStatuses]),
  input: messages,
  model: Type.Optional(Type.String({ maxLength: 200 })),
  usage: Type.Optional(TokenUsage),
  error: Type.Optional(
    Type.Object({
      status_code: Type.Integer({ minimum: 100, maximum: 599 }),
      message: Type.String({ maxLength: 10_000 }),
      type: Type.String({ maxLength: 100 }),
      details: Type.String({ maxLength: 100_000 }),
    }),
  ),
  created_at: time,
  started_at: Type.Optional(time),
  finished_at: Type.Optional(time),
})
export const ArchivedToolCall = Type.Object({
  run_id: id,
  step: Type.Integer({ minimum: 0, maximum: 10_000 }),
  index: Type.Integer({ minimum: 0, maximum: 10_000 }),
  call_id: Type.String({ maxLength: 1000 }),
  name: Type.String({ maxLength: 1000 }),
  args: Type.Unknown(),
  status: Type.Enum(['waiting', 'claimed', 'done']),
  result: Type.Optional(Type.String()),
  decision: Type.Optional(
    Type.Object({
      action: Type.Enum(['approve', 'reject', 'edit']),
      message: Type.Optional(Type.String({ maxLength: requestLimits.textLength })),
    }),
  ),
  created_at: time,
  finished_at: Type.Optional(time),
})
export const ArchivedFeedback = Type.Object({
  feedback_id: id,
  run_id: id,
  key: Type.String({ minLength: 1, maxLength: 180 }),
  score: Type.Optional(Type.Union([Type.Number(), Type.Boolean()])),
  value: Type.Optional(Type.Object({ value: Type.Unknown() })),
  comment: Type.Optional(Type.String({ maxLength: 10_000 })),
  created_at: time,
})
export const ArchivedFile = Type.Object({
  file_id: id,
  assistant_id: id,
  name: Type.String({ minLength: 1, maxLength: 512 }),
  content_type: Type.String({ maxLength: 1000 }),
  path: Type.String({ pattern: '^files/[A-Za-z0-9._~-]{1,90}$' }),
})
const Manifest = Type.Object({ format: Type.Literal('assistant-platform-user'), version: Type.Literal(1) })

/** The first member of an archive. */
export function checkManifest(line: string): void {
  if (!Value.Check(Manifest, parsed(line, 'manifest.json')))
    throw wrongArchive('its manifest is not that of version 1 of an archive of a user')
}

/** One line of the archive. Throws `invalid_input` for anything but such a record. */
export function recordOf<S extends TSchema>(schema: S, line: string, member: string): Static<S> {
  const value = parsed(line, member)
  if (Value.Check(schema, value) && hasTimes(value)) return value
  throw wrongArchive(`a line of ${member} is not a record of its kind`)
}

/** The pattern of times lets a thirteenth month through. */
function hasTimes(record: unknown): boolean {
  const members = typeof record === 'object' && record !== null ? Object.entries(record) : []
  return members.every(([key, value]) => !key.endsWith('_at') || !Number.isNaN(Date.parse(String(value))))
}

function parsed(line: string, member: string): unknown {
  try {
    return parseForeignJson(line, { bytes: Infinity, depth: foreignJsonDepth + 10 })
  } catch {
    // Said below; the reason would quote the line.
  }
  throw wrongArchive(`a line of ${member} is not JSON, or nests too deeply`)
}
