import { invalidInput } from '../../../domain/errors.ts'
import { requestLimits } from '../../../domain/limits.ts'
import type { V1MessageInput } from '../../../services/v1/receive-messages.ts'
import type { ThreadResources } from '../../../services/v1/thread-stores.ts'
import { requireContent } from '../public/client-messages.ts'
import type { NewToolResources, V1ToolResources } from './assistant-schemas.ts'
import { codeFilesOf, ownStoreOf } from './assistants.ts'
import type { V1ContentPart, V1MessageRequest } from './thread-schemas.ts'

type Loc = (string | number)[]

/** A message of a request. Throws `invalid_input` for parts and tools that this service does not have. */
export function messageInputOf({ role, content, attachments, metadata }: V1MessageRequest, loc: Loc): V1MessageInput {
  if (role === 'user') requireContent(content, [...loc, 'content'])
  return {
    role,
    content:
      typeof content === 'string' ? content : content.map((part, index) => partOf(part, [...loc, 'content', index])),
    files: (attachments ?? []).map(({ file_id: fileId, tools }, index) => {
      const at = [...loc, 'attachments', index]
      if (fileId === undefined) throw invalidInput([...at, 'file_id'], 'is required', 'missing')
      const types = new Set((tools ?? []).map(({ type }) => type))
      return { file_id: fileId, tools: [...types].map((type) => ({ type })) }
    }),
    metadata: metadata ?? undefined,
  }
}

export function messageInputsOf(messages: V1MessageRequest[], loc: Loc): V1MessageInput[] {
  if (messages.length > requestLimits.messages) throw invalidInput(loc, 'are too many', 'too_many')
  return messages.map((message, index) => messageInputOf(message, [...loc, index]))
}

function partOf(part: V1ContentPart, loc: Loc): Exclude<V1MessageInput['content'], string>[number] {
  const { type } = part
  for (const other of partTypes)
    if (other !== type && part[other] !== undefined)
      throw invalidInput([...loc, other], `is no member of a part of the type ${type}`, 'additionalProperties')
  switch (type) {
    case 'text':
      if (part.text === undefined) throw invalidInput([...loc, type], 'is required', 'missing')
      return { type, text: part.text }
    case 'image_url':
      if (part.image_url === undefined) throw invalidInput([...loc, type], 'is required', 'missing')
      return { type, image_url: part.image_url }
    case 'image_file':
      if (part.image_file === undefined) throw invalidInput([...loc, type], 'is required', 'missing')
      return { type, image_file: part.image_file }
  }
}

const partTypes = ['text', 'image_url', 'image_file'] as const

/** What a new thread searches, and what its code can read. */
export function newResourcesOf(resources: NewToolResources | null | undefined, loc: Loc): ThreadResources {
  return { vectorStores: storesOf(resources), ownStore: ownStoreOf(resources, loc), ...codeFilesOf(resources) }
}

/** The vector stores that a request names; undefined: it says nothing about them. */
export function storesOf(resources: V1ToolResources | null | undefined): string[] | undefined {
  if (resources === null) return []
  const { file_search: search } = resources ?? {}
  return search === null ? [] : search?.vector_store_ids
}
