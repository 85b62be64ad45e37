import path from 'node:path'
import type OpenAI from 'openai'
import { download, nameFor } from './download.ts'

type Message = OpenAI.Beta.Threads.Message

/** Where this service shows an image that came as data: at an address of its native API. */
const ownAddress = /\/threads\/([\w-]+)\/attachments\/([\w-]+)\/content$/

interface Exporting {
  folder: string
  attempt: <T>(what: string, work: () => Promise<T>) => Promise<T | undefined>
}

/**
 * A message whose images of this service's own addresses are files of the dump, since the addresses ask for a key. The
 * key goes only to the server that is exported.
 */
export async function imagesAsFiles(client: OpenAI, message: Message, { folder, attempt }: Exporting) {
  const files: { id: string; object: 'file'; filename: string; purpose: 'vision'; bytes: number; path: string }[] = []
  const content: Message['content'] = []
  for (const part of message.content) {
    const [, threadId, id] = (part.type === 'image_url' && ownAddress.exec(part.image_url.url)) || []
    if (part.type !== 'image_url' || id === undefined || threadId !== message.thread_id) {
      content.push(part)
      continue
    }
    const address = `${client.baseURL.replace(/\/v1\/?$/, '')}/threads/${threadId}/attachments/${id}/content`
    const bytes = await attempt(`an image of message ${message.id}`, () =>
      download(path.join(folder, nameFor(id)), undefined, () =>
        client.get<Response>(address, { __binaryResponse: true }),
      ),
    )
    if (bytes === undefined) content.push(part)
    else {
      files.push({ id, object: 'file', filename: 'image', purpose: 'vision', bytes, path: nameFor(id) })
      const { detail } = part.image_url
      content.push({ type: 'image_file', image_file: { file_id: id, ...(detail === undefined ? {} : { detail }) } })
    }
  }
  return { message: { ...message, content }, files }
}
