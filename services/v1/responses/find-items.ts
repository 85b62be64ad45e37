import { addAll } from '../../../domain/add-all.ts'
import { type AppError, invalidInput } from '../../../domain/errors.ts'
import { type Message, type ToolCall, messagesFromJson } from '../../../domain/messages.ts'
import { itemPositionOf } from '../../../domain/responses/ids.ts'
import { copyAttachments } from '../../attachments/copy-attachments.ts'
import type { Received } from '../../attachments/receive-content.ts'
import type { Collections } from '../../collections.ts'
import type { Caller } from '../../owner.ts'
import type { SecretBox } from '../../secrets.ts'
import { logStore } from '../../stores/log.ts'
import { threadStore } from '../../stores/threads.ts'
import { type PartSourcesDeps, withPartSources } from '../part-sources.ts'
import { responseStore } from '../store.ts'
import { type GivenItem, receiveItem } from './receive-items.ts'
import { createSealedItems } from './sealed-items.ts'

type Loc = (string | number)[]

/**
 * What a request gives as input: a message, with what the model thought before it (sealed, or as text); one with more
 * than text; the id of an item that exists; a sealed summary of what was said before; or a person's decision about a call.
 */
export type InputEntry =
  | { message: Message; thought?: { sealed?: string; text?: string } }
  | GivenItem
  | { reference: string; loc: Loc }
  | { summary: string; loc: Loc }
  | Decision

interface Decision {
  /** The id of the item that asked. */
  decides: string
  isAllowed: boolean
  reason: string
  loc: Loc
}

/** A call that is to be made, because the input allows it. */
export interface AllowedCall {
  call: ToolCall
  requestId: string
  /** The place in the input of the message that allows it. */
  index: number
}

interface FoundItems extends Received {
  allowed: AllowedCall[]
}

export interface FindItemsDeps extends PartSourcesDeps {
  collections: Pick<Collections, 'attachments' | 'checkpoints' | 'runs' | 'threads'>
  secretBox: Pick<SecretBox, 'seal' | 'open'>
}

/**
 * The messages of a request's input, and the bytes of their images and files. References are replaced by the messages
 * that they name. Throws `invalid_input` for a reference to nothing of the caller's, and for a file that cannot be read.
 */
export function createFindItems(deps: FindItemsDeps) {
  const log = logStore(deps.collections)
  const sealed = createSealedItems(deps.secretBox)

  return async (caller: Caller, entries: InputEntry[], known: Message[]): Promise<FoundItems> => {
    const messages = new Map(known.map((message) => [message.data.id, message]))
    return withPartSources(deps, caller, async (sources) => {
      const all: FoundItems = { input: [], attachments: [], allowed: [] }
      for (const entry of entries) {
        if ('message' in entry) all.input.push(withThought(caller, entry))
        else if ('summary' in entry) all.input.push(summaryOf(caller, entry))
        else if ('decides' in entry) await decide(caller, entry, { all, messages })
        else {
          const more =
            'parts' in entry
              ? await receiveItem(sources, entry, all)
              : await find(caller, { ...entry, loc: [...entry.loc, 'id'] }, messages)
          addAll(all.input, more.input)
          addAll(all.attachments, more.attachments)
        }
      }
      return { ...all, allowed: notMadeYet(all) }
    })
  }

  function withThought(
    { projectId }: Caller,
    { message, thought }: Extract<InputEntry, { message: Message }>,
  ): Message {
    if (thought === undefined || message.type !== 'AIMessage') return message
    const { sealed: text, text: reasoning } = thought
    const opened = text === undefined ? undefined : sealed.openThought(projectId, text)
    const own = opened ?? (reasoning ? { reasoning } : {})
    return { type: 'AIMessage', data: { ...message.data, ...own } }
  }

  function summaryOf({ projectId }: Caller, { summary, loc }: { summary: string; loc: Loc }): Message {
    const text = sealed.openSummary(projectId, summary)
    if (text === undefined)
      throw invalidInput([...loc, 'encrypted_content'], 'was not made in this project, or is damaged')
    return summaryMessage(text)
  }

  /** The call that an item of the input, or of a response, has asked about. */
  async function decide(
    caller: Caller,
    { decides, isAllowed, reason, loc }: Decision,
    { all, messages }: { all: FoundItems; messages: Map<string, Message> },
  ): Promise<void> {
    const requestedCall = all.input.flatMap(callsOf).find(({ id }) => id === decides)
    const call = requestedCall ?? (await calledIn(caller, { decides, loc }, messages))
    if (isAllowed) all.allowed.push({ call, requestId: decides, index: all.input.length })
    const content = isAllowed ? 'A person allowed this call: it is made next.' : refusalOf(reason)
    const data = { id: '', content, tool_call_id: call.id, ...(isAllowed ? {} : { rejected: true }) }
    all.input.push({ type: 'ToolMessage', data })
  }

  async function calledIn(
    caller: Caller,
    { decides, loc }: { decides: string; loc: Loc },
    messages: Map<string, Message>,
  ): Promise<ToolCall> {
    const at = [...loc, 'approval_request_id']
    const position = itemPositionOf(decides)
    const { input } = await find(caller, { reference: decides, loc: at }, messages)
    const call = input.flatMap(callsOf)[position?.call ?? -1]
    if (call === undefined) throw invalidInput(at, `there is no request ${decides}`, 'not_found')
    return call
  }

  async function find(
    caller: Caller,
    { reference, loc }: { reference: string; loc: Loc },
    known: Map<string, Message>,
  ): Promise<Received> {
    const position = itemPositionOf(reference)
    if (position === undefined) throw noItem(reference, loc)
    const already = known.get(position.messageId)
    if (already !== undefined) return { input: [already], attachments: [] }
    const run = await responseStore(deps.collections).findForApproval(caller, position.entryId)
    const threadId = (run ?? (await log.findThreadOfAny(position.entryId)))?.thread_id
    if (threadId === undefined || !(await threadStore(deps.collections).isPresent(caller, threadId)))
      throw noItem(reference, loc)
    const logged = run === null ? [await log.find(threadId, position.entryId)] : await log.listOfRun(run)
    const message = logged
      .flatMap((entry) => (entry === null ? [] : messagesFromJson(entry.messages_json)))
      .findLast(({ data }) => data.id === position.messageId)
    if (message === undefined) throw noItem(reference, loc)
    return copyAttachments(deps.collections, threadId, [message])
  }
}

/** What was said before a summary took its place is said by nobody: it is told as something that the person brings. */
export function summaryMessage(summary: string): Message {
  return { type: 'HumanMessage', data: { id: '', content: `${summaryHead}${summary}` } }
}

const summaryHead = '[Summary of the conversation so far]\n'

export function isSummary({ data: { content } }: Message): boolean {
  return content.startsWith(summaryHead)
}

function callsOf(message: Message): ToolCall[] {
  return message.type === 'AIMessage' ? (message.data.tool_calls ?? []) : []
}

/**
 * Clients that keep the conversation send every decision again with each turn: a call was made before if the input has an
 * answer after the decision, beside requests that it decides about, too.
 */
function notMadeYet({ input, allowed }: FoundItems): AllowedCall[] {
  const refused = input.flatMap((message) =>
    message.type === 'ToolMessage' && message.data.rejected === true ? [message.data.tool_call_id] : [],
  )
  const decided = new Set([...allowed.map(({ call }) => call.id), ...refused])
  const lastAnswer = input.findLastIndex(
    (message) =>
      message.type === 'AIMessage' &&
      (message.data.content !== '' || callsOf(message).some(({ id }) => !decided.has(id))),
  )
  return allowed.filter(({ index }) => index > lastAnswer)
}

function refusalOf(reason: string): string {
  return reason === '' ? 'A person did not allow this call.' : `A person did not allow this call: ${reason}`
}

function noItem(reference: string, loc: Loc): AppError {
  return invalidInput(loc, `there is no item ${reference}`, 'not_found')
}
