import { type Message, type Schemas, api, keys, queryClient, unwrap } from './api.ts'
import { chosenFor } from './chat-model.ts'
import { noteBegin, splitNote } from './document-note.ts'
import { effortOf } from './efforts.ts'
import { newId } from './new-id.ts'
import { keepSent } from './pictures.ts'
import { follow } from './run-followers.ts'
import { addSent, removeSent } from './sent-messages.ts'
import { getSession } from './session.ts'

interface Sending {
  threadId: string
  assistantId: string
  content: string
  /** As data URLs. */
  pictures?: string[]
  /** For a message that is sent again. */
  messageId?: string | undefined
  /** The message that it follows, if that is not the newest: then it begins another version. */
  after?: string | null | undefined
  /** In place of the model that was chosen for the chat. */
  model?: string | undefined
  /** The chat whose other choices hold. */
  choicesOf?: string
  /** Of the assistant's files, only these are searched. */
  files?: { id: string; name: string }[]
}

/** Starts a run with a message, shows the message at once, and follows the run. Resolves to its id. */
export async function sendMessage({
  threadId,
  assistantId,
  content,
  pictures = [],
  messageId,
  after,
  choicesOf = threadId,
  model = chosenFor('model', choicesOf),
  files = [],
}: Sending): Promise<string> {
  const id = messageId ?? newId()
  const effort = effortOf(chosenFor('effort', choicesOf))
  const temperature = chosenFor('temperature', choicesOf)
  const about = content.includes(noteBegin)
    ? (await import('./document-answers.ts')).instructionsFor(splitNote(content).note)
    : ''
  const instructions = [instructionsOf(choicesOf), about, filesWanted(files)].filter(Boolean).join('\n\n')
  const chosen = {
    ...(temperature && { temperature: Number(temperature) }),
    ...(instructions && { instructions }),
    ...(model && { model }),
    ...(files.length > 0 && { file_ids: files.map(({ id }) => id) }),
    ...(effort && { reasoning_effort: effort }),
  }
  const message = { id, content, ...(after === undefined ? {} : { after }) }
  if (pictures.length > 0) keepSent(id, pictures)
  addSent(threadId, message)
  try {
    const images = pictures.map((url) => ({ type: 'image_url' as const, image_url: { url } }))
    const parts = [...(content === '' ? [] : [{ type: 'text' as const, text: content }]), ...images]
    const data = { ...message, content: images.length > 0 ? parts : content }
    const input = [{ type: 'HumanMessage' as const, data }]
    const run = await unwrap(
      api.POST('/runs/', { body: { thread_id: threadId, assistant_id: assistantId, input, ...chosen } }),
    )
    addSent(threadId, { ...message, runId: run.run_id })
    queryClient.setQueryData<Schemas['RunList']>(keys.runs(threadId), (list) => ({
      limit: 50,
      offset: 0,
      ...list,
      // A list that was read meanwhile may have it already.
      runs: [run, ...(list?.runs ?? []).filter(({ run_id: id }) => id !== run.run_id)],
    }))
    follow(run.run_id, threadId)
    return run.run_id
  } catch (error) {
    removeSent(threadId, [id])
    throw error
  }
}

/** What the person says of himself, and what holds in this chat. */
function instructionsOf(threadId: string): string {
  const about = chosenFor('about', getSession()?.userId ?? '').trim()
  const parts = [about && `About the person who asks:\n${about}`, chosenFor('instructions', threadId).trim()]
  return parts.filter(Boolean).join('\n\n')
}

function filesWanted(files: { name: string }[]): string {
  if (files.length === 0) return ''
  const names = files.map(({ name }) => JSON.stringify(name)).join(', ')
  return `Search the files for this question before you answer. Only these are searched: ${names}.`
}

const longestName = 60

/** A chat is named after its first message. */
export function nameOf(content: string): string {
  const line = content.trim().split('\n')[0]?.trim() ?? ''
  if (line.length <= longestName) return line
  const cut = line.slice(0, longestName)
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), longestName / 2))}…`
}

/** Creates a chat that no list shows. */
export async function newTestThread(name: string, assistantId: string): Promise<string> {
  const body = { name, assistant_id: assistantId, temporary: true }
  return (await unwrap(api.POST('/threads/', { body }))).thread_id
}

/** Also when the page is being left; what is not deleted now, the service deletes within a day. */
export function removeTestThread(threadId: string): void {
  const path = { params: { path: { tid: threadId } } }
  void api.DELETE('/threads/{tid}', { ...path, keepalive: true }).catch(() => undefined)
}

/** Creates a chat, optionally with these messages. */
export async function newThread(
  name: string,
  assistantId: string,
  messages: Message[] = [],
  folderId?: string,
): Promise<string> {
  const { thread_id: threadId } = await unwrap(
    api.POST('/threads/', {
      body: { name, assistant_id: assistantId, provisional_name: true, ...(folderId && { folder_id: folderId }) },
    }),
  )
  if (messages.length > 0)
    await unwrap(api.POST('/threads/{tid}/state', { params: { path: { tid: threadId } }, body: { values: messages } }))
  void queryClient.invalidateQueries({ queryKey: keys.threads })
  return threadId
}
