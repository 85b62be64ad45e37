import { ApiError, tokenOf } from './api.ts'
import type { HumanMessage } from './conversation.ts'
import { dataUrlOf, sentPictures } from './pictures.ts'

/** The pictures of a message as data URLs, from this tab or from the service. */
export async function picturesOf(threadId: string, { data }: HumanMessage): Promise<string[]> {
  const known = sentPictures(data.id)
  if (known) return known
  const ids = (data.parts ?? []).flatMap((part) => (part.type === 'image' ? [part.attachment_id] : []))
  return Promise.all(ids.map((id) => load(threadId, id)))
}

/** An image of a message as a data URL. */
export const load = (threadId: string, attachmentId: string) => pictureAt(contentOf(threadId, attachmentId))

/** A file of a message. */
export async function fileOf(threadId: string, attachmentId: string): Promise<Blob> {
  return (await answerOf(contentOf(threadId, attachmentId))).blob()
}

const contentOf = (threadId: string, attachmentId: string) =>
  `/threads/${encodeURIComponent(threadId)}/attachments/${encodeURIComponent(attachmentId)}/content`

/** A picture of another site as a data URL. The service reads it, so that the other server does not learn who asks. */
export const remotePicture = (url: string) => pictureAt(`/user/picture?url=${encodeURIComponent(url)}`)

async function pictureAt(path: string): Promise<string> {
  return dataUrlOf(await (await answerOf(path)).blob())
}

async function answerOf(path: string): Promise<Response> {
  const response = await fetch(path, { headers: { authorization: `Bearer ${tokenOf() ?? ''}` } })
  if (!response.ok) throw new ApiError(response.status, await response.json().catch(() => undefined))
  return response
}
