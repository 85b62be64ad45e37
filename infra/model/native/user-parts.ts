import type { LanguageModelV4FilePart, LanguageModelV4TextPart } from '@ai-sdk/provider'
import type { PromptPart } from '../../../services/attachments/prompt-parts.ts'
import type { PromptMessage } from '../../../services/runs/chat-model.ts'

type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart

/** What a person sent. Providers know no names, so that a text says who speaks where several do. */
export function userParts({ content, name }: Extract<PromptMessage, { role: 'user' }>): UserPart[] {
  const parts: PromptPart[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  const said = parts.flatMap((part) => userPart(part))
  return name === undefined ? said : [{ type: 'text', text: `${name}:` }, ...said]
}

function userPart(part: PromptPart): UserPart[] {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }]
    case 'image_url':
      return [filePart(part.image_url.url, 'image')]
    case 'input_audio': {
      const { data, format } = part.input_audio
      const mediaType = format === 'wav' ? 'audio/wav' : 'audio/mpeg'
      return [{ type: 'file', mediaType, data: { type: 'data', data } }]
    }
    case 'file':
      return [{ ...filePart(part.file.file_data, 'application/octet-stream'), filename: part.file.filename }]
  }
}

function filePart(url: string, usualType: string): LanguageModelV4FilePart {
  const [, mediaType = usualType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? []
  if (data !== undefined) return { type: 'file', mediaType, data: { type: 'data', data } }
  return { type: 'file', mediaType: usualType, data: { type: 'url', url: new URL(url) } }
}
