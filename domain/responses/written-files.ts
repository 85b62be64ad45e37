import { containerFileId } from '../container-ids.ts'
import type { Message } from '../messages.ts'
import { dataFolder, sessionPath } from '../session-path.ts'
import { isOfClient } from './ids.ts'

/** The name under which models are offered the tool that executes code. */
export const codeToolName = 'code'

/** A file that code has written. */
export interface WrittenFile {
  /** Below `/mnt/data`. */
  path: string
  attachmentId: string
  /** As a file of its container. */
  containerFileId: string
  /** As a file of the project, if it is one. */
  fileId?: string
  isImage: boolean
  /** Written since the last answer with text. */
  isNew: boolean
}

/** Limits, because threads can hold anything. A run writes, and a text names, far less. */
const maxFiles = 200
const maxMentions = 1000

/**
 * The files that code had written before each of these answers, by its id; of several with one path the newest. What is
 * written later does not change what an answer cites.
 */
export function writtenBefore(messages: readonly Message[]): Map<string, WrittenFile[]> {
  return walk(messages).before
}

/** The same for an answer that comes after all of these messages. */
export function writtenAtEnd(messages: readonly Message[]): WrittenFile[] {
  return walk(messages).atEnd
}

function walk(messages: readonly Message[]) {
  const before = new Map<string, WrittenFile[]>()
  let found = new Map<string, WrittenFile>()
  for (const message of messages) {
    if (message.type === 'AIMessage') {
      before.set(message.data.id, [...found.values()])
      if (message.data.content !== '')
        found = new Map([...found].map(([path, file]) => [path, { ...file, isNew: false }]))
    } else if (message.type === 'ToolMessage' && message.data.name === codeToolName && !isOfClient(message.data.id))
      for (const file of writtenBy(message)) {
        found.delete(file.path)
        if (found.size < maxFiles) found.set(file.path, file)
      }
  }
  return { before, atEnd: [...found.values()] }
}

/** The files that one execution has written. */
export function writtenBy({ data }: Extract<Message, { type: 'ToolMessage' }>): WrittenFile[] {
  return (data.parts ?? []).flatMap((part) => {
    if (part.type !== 'image' && part.type !== 'file') return []
    const path = sessionPath(part.name ?? '')
    if (path === undefined) return []
    return [
      {
        path,
        attachmentId: part.attachment_id,
        containerFileId: containerFileId(part.attachment_id),
        ...(part.file_id === undefined ? {} : { fileId: part.file_id }),
        isImage: part.type === 'image',
        isNew: true,
      },
    ]
  })
}

/** Where a text names a file. */
export interface Mention {
  file: WrittenFile
  text: string
  start: number
  end: number
}

/** Where a text names these files by their paths, in order. */
export function mentionsOf(text: string, files: readonly WrittenFile[]): Mention[] {
  const mentions: Mention[] = []
  const isTaken = new Uint8Array(text.length)
  // The longer path first, so that none is found within another.
  for (const file of files.toSorted((a, b) => b.path.length - a.path.length)) {
    const named = `${dataFolder}/${file.path}`
    for (let at = text.indexOf(named); at >= 0; at = text.indexOf(named, at + named.length)) {
      if (mentions.length === maxMentions) return mentions.toSorted((a, b) => a.start - b.start)
      const end = at + named.length
      const start = text.startsWith(sandbox, at - sandbox.length) ? at - sandbox.length : at
      // The path of another file that begins alike.
      if (/^(?:[\w/-]|\.\w)/.test(text.slice(end, end + 2)) || isTaken[at] === 1) continue
      isTaken.fill(1, start, end)
      mentions.push({ file, text: text.slice(start, end), start, end })
    }
  }
  return mentions.toSorted((a, b) => a.start - b.start)
}

const sandbox = 'sandbox:'
