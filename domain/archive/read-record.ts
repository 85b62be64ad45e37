import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { configMaxMegabytes } from '../assistant-config.ts'
import { AppError } from '../errors.ts'
import { checkFreeForm } from '../foreign-json.ts'
import { checkMessageSize, maxMessageBytes } from '../message-size.ts'
import type { Message } from '../messages.ts'
import type { ArchiveLine } from '../records/declared-record.ts'
import { type ArchivedName, declaredRecords } from '../records/declared-records.ts'
import type { Usage } from '../records/run.ts'
import { toolCallKey } from '../records/tool-call.ts'
import { wordsOf } from '../search/message-terms.ts'
import type { Announced, AnnouncedKind, ReadRecord, ReadRecords, RecordKind, RefusedRecord } from './items.ts'
import * as records from './records.ts'
import { withoutSecrets } from './without-secrets.ts'
import { wrongArchive } from './wrong-archive.ts'

/** Twice what a caller may send: an answer also has calls, whose arguments can become longer when they are rewritten. */
const messageMaxBytes = 2 * maxMessageBytes.user
/** More than a request with its tools takes; a record of the database holds 16 MB. */
const responseMaxMegabytes = 4
/** More than a run can use; sums of the largest numbers of runs stay exact. */
const maxTokens = 1_000_000_000

/** A message with the ids that what it names gets here. */
type Renamed = (message: Message) => Message

const same: Renamed = (message) => message

/**
 * A parsed line of an archive as the service stores it, its messages as `renamed` makes them; refused where a limit of the
 * service is exceeded. Throws `invalid_input` for anything that is not a record of its kind.
 */
export function readRecord(kind: RecordKind, line: unknown, renamed: Renamed): ReadRecord | RefusedRecord {
  switch (kind) {
    case 'projects': {
      const project = checked(records.ArchivedProject, line, kind)
      return ready(kind, project.project_id, () => project)
    }
    case 'assistants': {
      const assistant = checked(records.ArchivedAssistant, line, kind)
      return ready(kind, assistant.assistant_id, () => {
        checkFreeForm(['config'], assistant.config, { maxMegabytes: configMaxMegabytes })
        return { ...assistant, ...withoutSecrets(assistant.config) }
      })
    }
    case 'vector_stores': {
      const store = checked(records.ArchivedVectorStore, line, kind)
      return ready(kind, store.vector_store_id, () => store)
    }
    case 'vector_store_files': {
      const entry = checked(records.ArchivedVectorStoreFile, line, kind)
      return ready(kind, `${entry.vector_store_id}/${entry.file_id}`, () => entry)
    }
    case 'threads': {
      const { metadata, ...thread } = checked(records.ArchivedThread, line, kind)
      return ready(kind, thread.thread_id, () => ({ ...thread, metadata_json: checkFreeForm(['metadata'], metadata) }))
    }
    case 'messages': {
      const { messages, ...entry } = checked(records.ArchivedEntry, line, kind)
      return ready(kind, `${entry.thread_id}/${entry.seq}`, () => ({
        ...entry,
        messages_json: messagesText(messages, renamed),
        words: wordsOf(messages),
      }))
    }
    case 'runs': {
      const run = checked(records.ArchivedRun, line, kind)
      return ready(kind, run.run_id, () => runOf(run, renamed))
    }
    case 'tool_calls': {
      const { args, ...call } = checked(records.ArchivedToolCall, line, kind)
      return ready(kind, toolCallKey(call.run_id, call.step, call.index), () => ({
        ...call,
        args_json: shortText(JSON.stringify(args), 'its arguments are too long'),
        ...(call.result === undefined ? {} : { result: shortText(call.result, 'its result is too long') }),
      }))
    }
    case 'feedback': {
      const { value, ...feedback } = checked(records.ArchivedFeedback, line, kind)
      return ready(kind, feedback.feedback_id, () => ({
        ...feedback,
        ...(value === undefined ? {} : { value_json: checkFreeForm(['value'], value) }),
      }))
    }
    case 'schedules': {
      const { input, ...schedule } = checked(records.ArchivedSchedule, line, kind)
      const hadParts = input.some(({ data }) => 'parts' in data)
      return ready(kind, schedule.schedule_id, () => ({ ...schedule, input_json: messagesText(input, same), hadParts }))
    }
    case 'evaluations': {
      const evaluation = checked(records.ArchivedEvaluation, line, kind)
      if (!evaluation.runs.every(hasTimes)) throw wrongArchive('a time of its evaluations is none')
      return ready(kind, evaluation.assistant_id, () => evaluation)
    }
    default:
      return declared(kind, line)
  }
}

/** Of a declared kind, whose line is as its record says. */
function declared<K extends ArchivedName>(kind: K, line: unknown): ReadRecord | RefusedRecord {
  const { schema, id }: ArchiveLine = declaredRecords[kind].archive
  const record = checked(schema, line, kind)
  // The schema is that of the kind.
  return ready(kind, String(record[id]), () => record as never) as ReadRecord | RefusedRecord
}

/** A record that comes before its bytes. */
export function readAnnounced(kind: AnnouncedKind, line: unknown): Announced {
  return kind === 'files'
    ? { kind, file: checked(records.ArchivedFile, line, kind) }
    : { kind, file: checked(records.ArchivedAttachment, line, kind) }
}

export const announcedId = (of: Announced): string => (of.kind === 'files' ? of.file.file_id : of.file.attachment_id)

/** Throws `invalid_input` for the manifest of another kind of archive. */
export function checkManifest(line: unknown): void {
  if (!Value.Check(records.Manifest, line))
    throw wrongArchive('its manifest is not that of version 1 of an archive of a user')
}

function checked<S extends TSchema>(schema: S, line: unknown, kind: string) {
  if (Value.Check(schema, line) && hasTimes(line)) return line
  throw wrongArchive(`a line of its ${kind} is not a record of that kind`)
}

function ready<K extends RecordKind>(kind: K, id: string, make: () => ReadRecords[K]) {
  try {
    return { type: 'record' as const, kind, id, record: make() }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { type: 'refused' as const, kind, id, reason: error.message }
  }
}

/** The pattern of times lets a thirteenth month through. */
function hasTimes(record: unknown): boolean {
  const members = typeof record === 'object' && record !== null ? Object.entries(record) : []
  return members.every(([key, value]) => !/(^|_)at$/.test(key) || !Number.isNaN(Date.parse(String(value))))
}

function runOf(
  { input, overrides = {}, metadata, response, ...run }: records.ArchivedRun,
  renamed: Renamed,
): ReadRecords['runs'] {
  const { response_format: format, ...others } = knownOverrides(overrides)
  return {
    ...run,
    input_json: messagesText(input, renamed),
    overrides: {
      ...others,
      ...(format === undefined ? {} : { response_format_json: checkFreeForm(['response_format'], format) }),
    },
    ...(metadata === undefined ? {} : { metadata_json: checkFreeForm(['metadata'], metadata) }),
    ...(run.completion === undefined ? {} : { completion: known(records.ArchivedCompletion, run.completion) }),
    ...(response === undefined ? {} : { response_json: responseText(response) }),
    ...(run.usage === undefined ? {} : { usage: bounded(run.usage) }),
    ...(run.usage_by_model === undefined
      ? {}
      : { usage_by_model: run.usage_by_model.map(({ model, ...usage }) => ({ ...bounded(usage), model })) }),
  }
}

function responseText(response: records.ArchivedResponse): string {
  const facts = known(records.ArchivedResponse, response)
  return checkFreeForm(['response'], facts, { maxMegabytes: responseMaxMegabytes })
}

/** The members that the schema names. */
function known<T extends object>({ properties }: { properties: object }, value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name in properties)) as T
}

/** Nothing executes an imported run again, so that what its model could call is left out. */
function knownOverrides(overrides: NonNullable<records.ArchivedRun['overrides']>): typeof overrides {
  return Object.fromEntries(Object.entries(overrides).filter(([name]) => name in records.ArchivedOverrides.properties))
}

function bounded({
  prompt_tokens,
  completion_tokens,
  total_tokens,
  cached_tokens,
  cache_write_tokens,
  reasoning_tokens,
}: Usage): Usage {
  const within = (tokens: number, most = maxTokens) => Math.min(Math.max(tokens, 0), most)
  const [prompt, completion] = [within(prompt_tokens), within(completion_tokens)]
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: within(total_tokens),
    ...(cached_tokens ? { cached_tokens: within(cached_tokens, prompt) } : {}),
    ...(cache_write_tokens ? { cache_write_tokens: within(cache_write_tokens, prompt) } : {}),
    ...(reasoning_tokens ? { reasoning_tokens: within(reasoning_tokens, completion) } : {}),
  }
}

const messageMembers = new Set(
  'id content name parts attachments after tool_calls tool_call_id usage incomplete metadata cut logprobs refusal reasoning provider_metadata deleted rejected failed asked output_type'.split(
    ' ',
  ),
)

/** Messages as JSON text, with the members that this version knows. */
function messagesText(messages: Message[], renamed: Renamed): string {
  for (const message of messages) checkMessageSize(message, messageMaxBytes, ['messages'])
  const known = messages.map(renamed).map(({ type, data }) => ({
    type,
    data: {
      ...Object.fromEntries(Object.entries(data).filter(([name]) => messageMembers.has(name))),
      ...('usage' in data && data.usage !== undefined ? { usage: bounded(data.usage) } : {}),
    },
  }))
  return JSON.stringify(known)
}

function shortText(text: string, refusal: string): string {
  if (Buffer.byteLength(text) > messageMaxBytes) throw new AppError('bad_request', refusal)
  return text
}
