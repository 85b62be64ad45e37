import { ApiError, api, keys, queryClient, unwrap } from './api.ts'
import { choose, chosenFor } from './chat-model.ts'
import type { Addressed } from './mentions.ts'
import { newId } from './new-id.ts'
import { sendMessage } from './send-message.ts'
import { type Side, sidesIn } from './sides.ts'

interface Sending extends Addressed {
  threadId: string
  assistantId: string
  content: string
  pictures?: string[]
  /** The newest message of the version that is shown. */
  end: string | null
}

export const sidesOf = (chat: string): Side[] => sidesIn(chosenFor('sides', chat))

function keep(chat: string, sides: Side[]): void {
  choose('sides', chat, sides.length === 0 ? '' : JSON.stringify(sides))
}

function forget(chat: string, side: Side): void {
  keep(
    chat,
    sidesOf(chat).filter(({ threadId }) => threadId !== side.threadId),
  )
}

/**
 * Sends a message of a chat in which two models answer side by side, if a second one is chosen. Answers that stood beside
 * the one before become versions first, so that the chat goes on from the answer that is shown.
 */
export async function sendBeside({ end, ...message }: Sending): Promise<void> {
  const { threadId } = message
  const model = chosenFor('beside', threadId)
  await settleSides(threadId)
  if (!model) return void (await sendMessage({ ...message, after: end }))
  const path = { params: { path: { tid: threadId } } }
  const made = await unwrap(api.POST('/threads/{tid}/sides', { ...path, body: { after: end } }))
  const messageId = newId()
  // The second one first: if it is refused, nothing has been asked.
  const runId = await sendMessage({ ...message, threadId: made.thread_id, model, choicesOf: threadId })
  const side: Side = { questionId: messageId, threadId: made.thread_id, runId, model, after: end }
  keep(threadId, [...sidesOf(threadId), side])
  try {
    await sendMessage({ ...message, messageId, after: end })
  } catch (error) {
    forget(threadId, side)
    await stopSide(side)
    throw error
  }
}

/** Makes all answers that stand beside those of the chat versions in it. */
async function settleSides(chat: string): Promise<void> {
  for (const side of sidesOf(chat)) {
    await stopSide(side)
    await take(chat, side).catch((error: unknown) => {
      // Without an answer there is nothing to keep.
      if (!(error instanceof ApiError) || ![404, 409].includes(error.status)) throw error
    })
    forget(chat, side)
  }
}

/** Ends the answer beside, if it is under way. */
export async function stopSide({ runId }: Side): Promise<void> {
  await unwrap(api.POST('/runs/{run_id}/cancel', { params: { path: { run_id: runId } } })).catch(() => undefined)
}

async function take(chat: string, { threadId, after }: Side): Promise<void> {
  const path = { tid: chat, side_id: threadId }
  await unwrap(api.POST('/threads/{tid}/sides/{side_id}/take', { params: { path }, body: { after } }))
  await queryClient.invalidateQueries({ queryKey: keys.state(chat) })
}

/** The chat goes on with the answer beside; the other one stays as the version before it. */
export async function keepSide(chat: string, side: Side): Promise<void> {
  await take(chat, side)
  forget(chat, side)
}

/** The chat goes on with its own answer; or both are shown again. */
export function putAside(chat: string, side: Side, isAside: boolean): void {
  keep(
    chat,
    sidesOf(chat).map((one) => (one.threadId === side.threadId ? { ...one, isAside } : one)),
  )
}
