import { type JsonObject, asList, asObject } from '../json.ts'
import { type ForeignChat, type ForeignNode, type ForeignSource, type LeftOut, limits } from './chat.ts'

/** Whether the export holds the picture with this id. */
type HasPicture = (id: string) => boolean

/** Reads the parsed file of an export; undefined if no service is known that writes it so. */
export function readExport(
  value: unknown,
  left: LeftOut,
  hasPicture: HasPicture = () => false,
): { source: ForeignSource; chats: ForeignChat[] } | undefined {
  const listed = Array.isArray(value) ? value : [value]
  const first = asObject(listed.find((one) => Object.keys(asObject(one)).length > 0))
  const source = sourceOf(first)
  if (source === undefined) return undefined
  const chats: ForeignChat[] = []
  for (const one of listed) {
    const chat = chats.length < limits.chats ? readers[source](asObject(one), left, hasPicture) : undefined
    if (chat === undefined || chat.nodes.every(({ said }) => said === undefined)) left.chats += 1
    else chats.push(chat)
  }
  return { source, chats }
}

function sourceOf(chat: JsonObject): ForeignSource | undefined {
  if (typeof chat['mapping'] === 'object') return 'chatgpt'
  if (Array.isArray(chat['chat_messages'])) return 'claude'
  return Array.isArray(chat['messages']) && typeof chat['conversationId'] === 'string' ? 'librechat' : undefined
}

type Reader = (chat: JsonObject, left: LeftOut, hasPicture: HasPicture) => ForeignChat | undefined

const readers: Record<ForeignSource, Reader> = { chatgpt: readChatGpt, claude: readClaude, librechat: readLibreChat }

/** OpenAI: `mapping` is a tree of nodes; times are seconds since 1970. */
function readChatGpt(chat: JsonObject, left: LeftOut, hasPicture: HasPicture): ForeignChat | undefined {
  const mapping = asObject(chat['mapping'])
  const ids = Object.keys(mapping)
  if (ids.length > limits.nodes) return undefined
  const nodes = ids.map((id): ForeignNode => {
    const node = asObject(mapping[id])
    const message = asObject(node['message'])
    const role = asObject(message['author'])['role']
    const recipient = textOf(message['recipient']) || 'all'
    const isHidden = asObject(message['metadata'])['is_visually_hidden_from_conversation'] === true
    const isSaid = (role === 'user' || role === 'assistant') && recipient === 'all' && !isHidden
    const pictures: string[] = []
    const text = isSaid
      ? partsOfChatGpt(asObject(message['content']), (id) => {
          if (role === 'user' && id !== undefined && hasPicture(id)) pictures.push(id)
          else left.files += 1
        })
      : ''
    const by = role === 'user' ? ('person' as const) : ('assistant' as const)
    return {
      id,
      parent: textOf(node['parent']) || null,
      said: text.trim() === '' && pictures.length === 0 ? undefined : { by, text: cut(text, left), pictures },
      at: timeOf(message['create_time']),
    }
  })
  const createdAt = timeOf(chat['create_time'])
  return {
    id: textOf(chat['conversation_id']) || textOf(chat['id']) || ids.slice(0, 60).join('').slice(0, 60),
    title: titleOf(chat['title']),
    ...times(createdAt, timeOf(chat['update_time'])),
    isArchived: chat['is_archived'] === true,
    nodes,
    current: textOf(chat['current_node']) || undefined,
  }
}

/**
 * Marks of citations, which name what the export does not hold; none begins within another, so that each character is
 * read once.
 */
const citationMarks = /\ue200[^\ue200\ue201]{0,2000}\ue201/g

/** The text of a message. `onFile` is told of what is none, with its id if it is a picture. */
function partsOfChatGpt(content: JsonObject, onFile: (pictureId: string | undefined) => void): string {
  const kind = content['content_type']
  if (kind !== 'text' && kind !== 'multimodal_text') return ''
  const texts = asList(content['parts']).map((part) => {
    if (typeof part === 'string') return part
    const { content_type: type, text, asset_pointer: pointer } = asObject(part)
    if (type === 'audio_transcription') return textOf(text)
    onFile(type === 'image_asset_pointer' ? /:\/\/(file[-_][A-Za-z0-9]+)$/.exec(textOf(pointer))?.[1] : undefined)
    return ''
  })
  return texts
    .filter((text) => text !== '')
    .join('\n\n')
    .replaceAll(citationMarks, '')
}

/** Anthropic: a list of messages, newer exports with the message before each. */
function readClaude(chat: JsonObject, left: LeftOut): ForeignChat | undefined {
  const listed = asList(chat['chat_messages'])
  if (listed.length > limits.nodes) return undefined
  const messages = listed.map(asObject)
  const ids = new Set(messages.map(({ uuid }) => textOf(uuid)))
  let before: string | null = null
  const nodes = messages.map((message, place): ForeignNode => {
    const id = textOf(message['uuid']) || `m${place}`
    const named = message['parent_message_uuid']
    const parent: string | null = typeof named === 'string' ? (ids.has(named) ? named : null) : before
    before = id
    const text = [textOfBlocks(message['content']) || textOf(message['text']), ...attached(message, left)]
      .filter((part) => part.trim() !== '')
      .join('\n\n')
    const by = message['sender'] === 'human' ? ('person' as const) : ('assistant' as const)
    return {
      id,
      parent,
      said: text === '' ? undefined : { by, text: cut(text, left) },
      at: timeOf(message['created_at']),
    }
  })
  return {
    id: textOf(chat['uuid']) || String(nodes[0]?.id ?? ''),
    title: titleOf(chat['name']),
    ...times(timeOf(chat['created_at']), timeOf(chat['updated_at'])),
    isArchived: false,
    nodes,
    current: textOf(chat['current_leaf_message_uuid']) || undefined,
  }
}

function textOfBlocks(content: unknown): string {
  return asList(content)
    .map(asObject)
    .filter(({ type }) => type === 'text')
    .map(({ text }) => (typeof text === 'string' ? text : textOf(asObject(text)['value'])))
    .filter((text) => text !== '')
    .join('\n\n')
}

/** The texts that were read from attachments are part of what was said; files themselves are not in the export. */
function attached(message: JsonObject, left: LeftOut): string[] {
  left.files += asList(message['files']).length
  return asList(message['attachments']).flatMap((one) => {
    const { file_name: name, extracted_content: text } = asObject(one)
    if (typeof text !== 'string' || text === '') return []
    let longest = 2
    for (const [ticks] of text.matchAll(/`+/g)) longest = Math.max(longest, ticks.length)
    const fence = '`'.repeat(longest + 1)
    return [`${textOf(name)}\n\n${fence}\n${text}\n${fence}`]
  })
}

/** LibreChat: messages with their parents, in a list or each in its parent. */
function readLibreChat(chat: JsonObject, left: LeftOut): ForeignChat | undefined {
  const nodes: ForeignNode[] = []
  const waiting = [...asList(chat['messages'])]
  // It grows while it is read.
  for (const one of waiting) {
    if (waiting.length > limits.nodes) return undefined
    const message = asObject(one)
    const text = textOf(message['text']) || textOfBlocks(message['content'])
    left.files += asList(message['files']).length
    nodes.push({
      id: textOf(message['messageId']) || `m${nodes.length}`,
      parent: textOf(message['parentMessageId']) || null,
      said:
        text.trim() === ''
          ? undefined
          : { by: message['isCreatedByUser'] === true ? 'person' : 'assistant', text: cut(text, left) },
      at: timeOf(message['createdAt']),
    })
    for (const child of asList(message['children'])) waiting.push(child)
  }
  return {
    id: textOf(chat['conversationId']),
    title: titleOf(chat['title']),
    ...times(nodes.find(({ at }) => at !== undefined)?.at ?? timeOf(chat['exportAt']), nodes.at(-1)?.at),
    isArchived: false,
    nodes,
    current: undefined,
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const titleOf = (value: unknown): string =>
  textOf(value).trim().replaceAll(/\s+/g, ' ').slice(0, limits.titleLength).toWellFormed()

function cut(text: string, left: LeftOut): string {
  if (text.length <= limits.textLength) return text.toWellFormed()
  left.cut += 1
  return text.slice(0, limits.textLength).toWellFormed()
}

/** Seconds since 1970, or a text that dates are written in. */
function timeOf(value: unknown): string | undefined {
  const at = typeof value === 'number' ? value * 1000 : typeof value === 'string' ? Date.parse(value) : Number.NaN
  return at > 0 && at < 4e12 ? new Date(at).toISOString() : undefined
}

function times(created: string | undefined, updated: string | undefined) {
  const createdAt = created ?? updated ?? new Date().toISOString()
  return { createdAt, updatedAt: updated ?? createdAt }
}
