import { createHash } from 'node:crypto'
import Type from 'typebox'
import { Value } from 'typebox/value'
import type { AttachedPart } from '../../domain/content-parts.ts'
import { newId } from '../../domain/ids.ts'
import type { AttachmentRecord } from '../../domain/records/attachment.ts'
import type { ToolCallRecord } from '../../domain/records/tool-call.ts'
import { writtenTypeOf } from '../attachments/content-type.ts'
import { bytesOf } from '../attachments/prompt-parts.ts'
import { storeAttachments } from '../attachments/store-attachments.ts'
import type { Collections } from '../collections.ts'
import { limitText } from '../tools/tool-text.ts'
import type { JsonSchema, Tool, ToolContext } from '../tools/tool.ts'
import type { CodeInterpreter, CodeResult, SessionFile } from './interpreter.ts'
import { sessionPath } from '../../domain/session-path.ts'

const maxCodeCharacters = 100_000

const CodeArguments = Type.Object(
  {
    code: Type.String({
      minLength: 1,
      maxLength: maxCodeCharacters,
      description: 'Python. What it prints and the value of its last expression are returned.',
    }),
  },
  { additionalProperties: false },
)

export const codeParameters: JsonSchema = { ...CodeArguments }

export const codeDescription =
  'Executes Python for calculations, data and files. Variables stay between the calls of a conversation. The files of the conversation are in /mnt/data, the working directory; what the code writes there is given to the person.'

/** Longer than the interpreter allows one execution, with the wait for a place. */
const timeoutMs = 5 * 60_000
/** What a new session is given of the thread's files; older ones are left out. */
const maxSessionBytes = 32 * 1024 * 1024

export interface CodeToolDeps {
  collections: Pick<Collections, 'attachments' | 'toolCalls'>
  interpreter: CodeInterpreter
}

/**
 * The tool with which an assistant executes Python. A session belongs to a thread: it is continued by the process that has
 * executed the newest call of the thread, and otherwise begins anew with the thread's files. Code has no effect outside of
 * its session, so a call whose outcome is unknown is repeated.
 */
export function codeTool(
  { collections, interpreter }: CodeToolDeps,
  { name, userId }: { name: string; userId: string },
): Tool {
  return {
    type: 'code',
    name,
    description: `${codeDescription} ${interpreter.describe()}.`,
    parameters: codeParameters,
    safeToRepeat: true,
    timeoutMs,
    async execute(args, { signal, call }: ToolContext) {
      const { code } = Value.Parse(CodeArguments, args)
      const { threadId } = call
      const result = await interpreter.execute(
        {
          session: threadId ?? call.key,
          owner: userId,
          code,
          after: threadId === undefined ? undefined : await newestCall(collections, threadId, name),
          becomes: call.key,
          files: async () => (threadId === undefined ? [] : filesOf(collections, threadId)),
        },
        signal,
      )
      const stored = threadId === undefined ? [] : await store(collections, { threadId, userId }, result.files)
      return { content: limitText(answerOf(result, stored)), parts: stored.map(partOf) }
    },
  }
}

/** The thread's newest call that was executed: only those have `parts`. */
async function newestCall(
  { toolCalls }: Pick<Collections, 'toolCalls'>,
  threadId: string,
  name: string,
): Promise<string | undefined> {
  const newest = await toolCalls
    .findOne({ thread_id: threadId, name, parts: { $exists: true } }, { _id: 1 })
    .sort({ finished_at: -1 })
    .lean<Pick<ToolCallRecord, '_id'>>()
  return newest?._id
}

/** The named files of a thread; of several with one name the newest. */
async function filesOf({ attachments }: Pick<Collections, 'attachments'>, threadId: string): Promise<SessionFile[]> {
  const listed = await attachments
    .find({ thread_id: threadId, name: { $ne: '' } }, { name: 1, size: 1 })
    .sort({ _id: -1 })
    .limit(1000)
    .lean<Pick<AttachmentRecord, '_id' | 'name' | 'size'>[]>()
  const files: SessionFile[] = []
  const seen = new Set<string>()
  let left = maxSessionBytes
  for (const { _id, name, size } of listed) {
    const path = sessionPath(name)
    if (path === undefined || seen.has(path) || size > left) continue
    seen.add(path)
    const record = await attachments.findOne({ _id, thread_id: threadId }).lean<AttachmentRecord>()
    if (record === null) continue
    left -= size
    files.push({ path, bytes: Buffer.from(bytesOf(record)) })
  }
  return files
}

type Stored = Pick<AttachmentRecord, '_id' | 'name' | 'content_type' | 'size'>

async function store(
  collections: Pick<Collections, 'attachments'>,
  { threadId, userId }: { threadId: string; userId: string },
  files: SessionFile[],
): Promise<Stored[]> {
  const records = files.map(({ path, bytes }) => ({
    _id: newId(),
    name: path,
    content_type: writtenTypeOf(bytes),
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    bytes,
  }))
  await storeAttachments(collections, { thread_id: threadId, user_id: userId, created_at: new Date() }, records)
  return records
}

function partOf({ _id, name, content_type: contentType, size }: Stored): AttachedPart {
  const attached = { attachment_id: _id, content_type: contentType, size }
  return contentType.startsWith('image/') ? { type: 'image', ...attached, name } : { type: 'file', ...attached, name }
}

/** What the model reads. */
function answerOf({ output, error, leftOut, isNew }: CodeResult, stored: Stored[]): string {
  const parts = [
    isNew
      ? '[A new session: variables of earlier calls are not there; the files of the conversation are in /mnt/data.]'
      : '',
    output.trimEnd(),
    (error ?? '').trimEnd(),
    stored.length === 0 ? '' : `[Written: ${stored.map(({ name, size }) => `${name} (${size} bytes)`).join(', ')}]`,
    leftOut.length === 0 ? '' : `[Not kept: ${leftOut.join('; ')}]`,
  ].filter((part) => part !== '')
  return parts.length === 0 || (parts.length === 1 && isNew) ? [...parts, '[No output.]'].join('\n') : parts.join('\n')
}
