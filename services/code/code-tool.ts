import Type from 'typebox'
import { Value } from 'typebox/value'
import type { AttachedPart } from '../../domain/content-parts.ts'
import { runIdOfCall } from '../../domain/records/tool-call.ts'
import type { CodeOverride } from '../../domain/run-overrides.ts'
import type { WorkUsage } from '../budgets/work.ts'
import type { Collections } from '../collections.ts'
import type { Caller } from '../owner.ts'
import { runStore } from '../stores/runs.ts'
import { toolCallStore } from '../stores/tool-calls.ts'
import { limitText } from '../tool-text.ts'
import type { JsonSchema, Tool, ToolContext } from '../tool.ts'
import { type ContainerUse, continueContainer } from './container-use.ts'
import type { CodeInterpreter, CodeResult } from './interpreter.ts'
import { type SessionFilesDeps, namesOfProjectFiles, newSessionFiles } from './session-files.ts'
import { type KeepWrittenDeps, keepWritten } from './written-files.ts'

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
/** Names of files that the description lists. */
const maxNames = 20

interface CodeToolDeps {
  collections: Pick<Collections, 'attachments' | 'toolCalls' | 'threads' | 'runs'>
  interpreter: CodeInterpreter
  projectFiles: SessionFilesDeps['projectFiles'] & KeepWrittenDeps['projectFiles']
  workUsage: Pick<WorkUsage, 'note'>
  storageQuota: KeepWrittenDeps['storageQuota']
}

interface CodeToolOptions {
  name: string
  /** Whose session it is, and whose files. */
  caller: Caller
  /** Files of the project that the assistant has for its sessions. */
  assistantFiles: string[]
  wanted: CodeOverride
}

/**
 * The tool with which an assistant executes Python. A session belongs to a thread or a container: it is continued by the
 * process that has executed its newest call, and otherwise begins anew with its files. Code has no effect outside of its
 * session, so a call whose outcome is unknown is repeated.
 */
export async function codeTool(
  deps: CodeToolDeps,
  { name, caller, assistantFiles, wanted }: CodeToolOptions,
): Promise<Tool> {
  const { collections, interpreter, workUsage } = deps
  const ofAssistant = wanted.inPlaceOfFiles === true ? [] : assistantFiles
  const projectFiles = [...new Set([...(wanted.files ?? []), ...ofAssistant])]
  const names = await namesOfProjectFiles(deps, caller, projectFiles.slice(0, maxNames))

  return {
    type: 'code',
    name,
    description: [
      codeDescription,
      `${interpreter.describe()}.`,
      ...(names.length === 0 ? [] : [`Files that are there: ${names.join(', ')}.`]),
    ].join(' '),
    parameters: codeParameters,
    safeToRepeat: true,
    timeoutMs,
    async execute(args, { signal, call }: ToolContext) {
      const { code } = Value.Parse(CodeArguments, args)
      const { threadId } = call
      const actor = await actorOf(collections, caller, call)
      const container =
        wanted.container === undefined ? undefined : await continueContainer(collections, actor, wanted.container)
      const result = await interpreter.execute(
        {
          session: container?.id ?? threadId ?? call.key,
          owner: actor.userId,
          code,
          after: container === undefined ? await newestCall(collections, threadId, name) : container.executed,
          becomes: call.key,
          files: (isKnown) => {
            const threads = [container?.id, threadId].filter((id) => id !== undefined)
            return newSessionFiles(deps, actor, { threads, projectFiles }, isKnown)
          },
        },
        signal,
      )
      const budgets = await budgetsOf(collections, call)
      await workUsage.note({ projectId: caller.projectId, budgets }, { code_seconds: result.seconds })
      return kept(result, threadId, { actor, container, key: call.key })
    },
  }

  async function kept(
    result: CodeResult,
    threadId: string | undefined,
    { actor, container, key }: { actor: Caller; container: ContainerUse | undefined; key: string },
  ) {
    await container?.finish(key)
    if (threadId === undefined) return { content: limitText(answerOf(result, [], [])), parts: [] }
    const location = { threadId, container: container?.id, keepsFiles: wanted.keepsFiles === true }
    const { parts, refused } = await keepWritten(deps, actor, result.files, location)
    return { content: limitText(answerOf(result, parts, refused)), parts }
  }
}

/** The budgets of the run that executes it: those of public callers, too. */
async function budgetsOf(
  collections: Pick<Collections, 'runs'>,
  { key, threadId }: ToolContext['call'],
): Promise<string[] | undefined> {
  if (threadId === undefined) return undefined
  return runStore(collections).budgetsInThread({ _id: runIdOfCall(key), thread_id: threadId })
}

/** Whose run it is: the holder's of the project, or a member's. */
async function actorOf(
  collections: Pick<Collections, 'runs'>,
  holder: Caller,
  { key, threadId }: ToolContext['call'],
): Promise<Caller> {
  if (threadId === undefined) return holder
  const runKey = { _id: runIdOfCall(key), thread_id: threadId }
  const userId = (await runStore(collections).userInProject(holder.projectId, runKey)) ?? holder.userId
  return userId === holder.userId ? holder : { ...holder, userId, holderId: holder.userId }
}

/** The thread's newest call that was executed: only those have `parts`. */
async function newestCall(
  collections: Pick<Collections, 'toolCalls'>,
  threadId: string | undefined,
  name: string,
): Promise<string | undefined> {
  if (threadId === undefined) return undefined
  return toolCallStore(collections).newestWithParts(threadId, name)
}

/** What the model reads. */
function answerOf({ output, error, leftOut, isNew }: CodeResult, stored: AttachedPart[], refused: string[]): string {
  const lost = [...leftOut, ...refused]
  const parts = [
    isNew
      ? '[A new session: variables of earlier calls are not there; the files of the conversation are in /mnt/data.]'
      : '',
    output.trimEnd(),
    (error ?? '').trimEnd(),
    stored.length === 0 ? '' : `[Written: ${stored.map(nameAndSize).join(', ')}]`,
    lost.length === 0 ? '' : `[Not kept: ${lost.join('; ')}]`,
  ].filter((part) => part !== '')
  return parts.length === 0 || (parts.length === 1 && isNew) ? [...parts, '[No output.]'].join('\n') : parts.join('\n')
}

function nameAndSize(part: AttachedPart): string {
  return `${'name' in part ? (part.name ?? '') : ''} (${part.size} bytes)`
}
