import { createHash } from 'node:crypto'
import { type AttachedPart, attachmentLimits } from '../../domain/content-parts.ts'
import type { OnThread, ToolInput, ToolOutcome } from '../../domain/contracts/thread.ts'
import { toolMessageOf, unknownOutcome } from '../../domain/conversation.ts'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import { type ChildRunKey, type CallResult, type ToolCallRecord, toolCallKey } from '../../domain/records/tool-call.ts'
import { audioTypeOf, fileTypeOf, imageTypeOf } from '../attachments/content-type.ts'
import { storeAttachments } from '../attachments/receive-content.ts'
import type { StorageQuota } from '../knowledge/storage-quota.ts'
import { assistantStore } from '../stores/assistants.ts'
import { runStore } from '../stores/runs.ts'
import type { ResultFile, Tool } from '../tool.ts'
import { type ToolResult, executeTool } from '../tools/execute-tool.ts'
import type { StartChildRun } from './delegation/start-child-run.ts'
import type { StepDeps } from './step-deps.ts'
import { ledgerStore, startedRunStore } from './store.ts'

export interface ToolStepDeps extends StepDeps {
  startChildRun: StartChildRun
  storageQuota: Pick<StorageQuota, 'requireRoomForParts'>
}

export interface ToolStepOptions {
  /** Names the attempt: the same name is the same attempt. */
  attempt: string
  signal: AbortSignal
  /** When the time of the run is over. */
  deadline?: Date | undefined
}

/**
 * Executes one tool call at most once: only the attempt that changes its status from `waiting` to `claimed`
 * executes it. If an earlier attempt has claimed the call and its outcome is unknown, the call is repeated only if
 * the tool is safe to repeat. All failures of a tool become text for the model. A call that asks another assistant
 * stays open: `delegation/finish-call.ts` stores its result.
 */
export async function toolStep(
  deps: ToolStepDeps,
  input: OnThread<ToolInput>,
  options: ToolStepOptions,
): Promise<ToolOutcome> {
  const { attempt, signal } = options
  const ledger = ledgerStore(deps.collections)
  const key = toolCallKey(input.runId, input.step, input.index)
  const { run, assistant } = deps.liveRuns.pausedOf(input.runId) ?? (await readRun(deps, input))
  if (run === null || run.status !== 'running') return undefined
  const tools =
    assistant === null || assistant.deleting || assistant.suspended ? [] : await deps.toolsOf(assistant, run, signal)
  const toolOf = (found: ToolCallRecord | null) => tools.find(({ name }) => name === found?.name)
  const claim = (status: ToolCallRecord['status']) => ledger.claim(key, status, attempt)
  /** Begun by an earlier attempt, which may have died. */
  async function claimAgain(): Promise<ToolCallRecord | null> {
    const tool = toolOf(await ledger.find(key))
    return tool === undefined || tool.safeToRepeat ? claim('claimed') : null
  }
  const call = (await claim('waiting')) ?? (await claimAgain())

  const result =
    call === null
      ? { content: unknownOutcome }
      : await resultOf(deps, { run, assistant, tool: toolOf(call), call }, options)
  if ('run_id' in result) return { askedRunId: result.run_id }
  signal.throwIfAborted()
  // The claim failed: an earlier attempt began the call, and its outcome is unknown.
  const claimedBy = call === null ? { $ne: attempt } : attempt
  const stored = (await ledger.finish(key, changesOf(result), claimedBy)) ?? (await ledger.find(key))
  // Otherwise another attempt is executing the call.
  if (stored?.status === 'done') await publishResult(deps, run, stored)
  return undefined
}

async function readRun({ collections }: StepDeps, { runId, threadId }: OnThread<ToolInput>) {
  const run = await runStore(collections).findInThread({ _id: runId, thread_id: threadId })
  const assistant = run && (await assistantStore(collections).findOfAny(run.assistant_id))
  return { run, assistant }
}

interface Result extends Pick<ToolResult, 'content' | 'parts'> {
  failed?: boolean
}

function changesOf({ content, parts, failed = false }: Result): CallResult {
  return { result: content, ...(parts === undefined ? {} : { parts }), ...(failed ? { failed } : {}) }
}

async function resultOf(
  deps: ToolStepDeps,
  {
    run,
    assistant,
    tool,
    call,
  }: { run: RunRecord; assistant: AssistantRecord | null; tool: Tool | undefined; call: ToolCallRecord },
  { signal, deadline }: ToolStepOptions,
): Promise<Result | ChildRunKey> {
  if (call.decision?.action === 'reject') return { content: rejection(call.decision.message) }
  // An earlier attempt has asked; the assistants that can be asked may have changed since.
  const { asked: childRun } = call
  if (
    childRun &&
    (await startedRunStore(deps.collections).exists({ _id: childRun.run_id, thread_id: childRun.thread_id }))
  )
    return childRun
  if (tool === undefined) return { content: `There is no tool called ${call.name}.`, failed: true }
  const facts = { name: tool.name, type: tool.type, callId: call.call_id, step: call.step }
  const {
    outcome,
    question,
    content,
    parts,
    files = [],
  } = await executeTool(tool, call.args_json, {
    checkForeignArguments: deps.checkForeignArguments,
    userId: run.user_id,
    call: { key: call._id, threadId: run.thread_id, isApproved: call.decision !== undefined },
    signal,
    around: (execute) => deps.tracing.tool(run, facts, execute),
  })
  if (question === undefined || assistant === null) {
    const owner = { threadId: run.thread_id, userId: run.user_id }
    const storedParts = files.length === 0 ? parts : await keepFiles(deps, owner, files)
    return { content, failed: outcome !== 'answered', ...(storedParts === undefined ? {} : { parts: storedParts }) }
  }
  const asking = await deps.startChildRun({ run, assistant, call, deadline }, question)
  return typeof asking === 'string' ? { content: asking, failed: true } : asking
}

function rejection(message: string | undefined): string {
  return message ? `A person did not allow this call: ${message}` : 'A person did not allow this call.'
}

/** Readers receive the results of a step in the order of its calls. */
export async function publishResult(deps: StepDeps, run: RunRecord, call: ToolCallRecord): Promise<void> {
  try {
    const turn = { group: call.step, place: call.index }
    await deps.stream.publishInTurn(run._id, run.fence, turn, [{ type: 'message', message: toolMessageOf(call) }])
  } catch (error) {
    // The next model step publishes it again.
    deps.onError(error)
  }
}

const { bytes: fileBytes, allBytes } = attachmentLimits.user
/** Of one result. */
const maxFiles = 16

/**
 * Stores the pictures and files of a tool's result with the thread; what is too large, too many or unknown is left out, and
 * what the account has no room for.
 */
async function keepFiles(
  { collections, storageQuota }: Pick<ToolStepDeps, 'collections' | 'storageQuota'>,
  owner: { threadId: string; userId: string },
  files: ResultFile[],
): Promise<AttachedPart[]> {
  const parts: AttachedPart[] = []
  let left: number = allBytes
  for (const { name, bytes } of files) {
    const type = typeOf(bytes)
    if (type === undefined || bytes.length > Math.min(fileBytes, left) || parts.length === maxFiles) continue
    if (!(await hasRoom(storageQuota, owner.userId, bytes.length))) continue
    left -= bytes.length
    const record = {
      _id: newId(),
      name,
      content_type: type.contentType,
      size: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      bytes,
    }
    await storeAttachments(collections, { thread_id: owner.threadId, user_id: owner.userId, created_at: new Date() }, [
      record,
    ])
    const attached = { attachment_id: record._id, content_type: type.contentType, size: bytes.length }
    if (type.part === 'file') parts.push({ type: 'file', ...attached, name: name || 'file' })
    else if (type.part === 'audio') parts.push({ type: 'audio', ...attached })
    else parts.push({ type: 'image', ...attached, ...(name === '' ? {} : { name }) })
  }
  return parts
}

async function hasRoom(storageQuota: ToolStepDeps['storageQuota'], userId: string, size: number): Promise<boolean> {
  try {
    await storageQuota.requireRoomForParts(userId, [{ size }])
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'payload_too_large') return false
    throw error
  }
}

/** What the bytes are, and not what the tool says of them. */
function typeOf(bytes: Buffer): { part: 'image' | 'audio' | 'file'; contentType: string } | undefined {
  const image = imageTypeOf(bytes)
  if (image !== undefined) return { part: 'image', contentType: image }
  const audio = audioTypeOf(bytes)
  if (audio !== undefined) return { part: 'audio', contentType: audio }
  const file = fileTypeOf(bytes)
  return file === undefined ? undefined : { part: 'file', contentType: file }
}
