import { useQuery } from '@tanstack/react-query'
import { ApiError } from '../../../client/src/index.ts'
import { type Schemas, api, keys, queryClient, unwrap } from './api.ts'
import { sendBody } from './send-body.ts'

/** A file that one chat alone is answered from. */
export interface ChatFile {
  id: string
  name: string
  bytes: number
  status: 'processing' | 'ready' | 'failed'
  error: string | undefined
}

/** The longest that the service lets a file expire after; the vector store of the chat goes when nobody asks as long. */
const keptDays = 30
const pollMs = 1500
const statuses = { in_progress: 'processing', completed: 'ready', failed: 'failed', cancelled: 'failed' } as const

export const useChatFiles = (threadId: string) =>
  useQuery({
    queryKey: keys.chatFiles(threadId),
    queryFn: () => readChatFiles(threadId),
    refetchInterval: ({ state }) => (state.data?.some(({ status }) => status === 'processing') ? pollMs : false),
  })

async function readChatFiles(threadId: string): Promise<ChatFile[]> {
  const store = await storeOf(threadId)
  return store === undefined ? [] : filesOf(store.id)
}

/** The files of a vector store; none if it is gone. */
export async function filesOf(storeId: string): Promise<ChatFile[]> {
  const query = { limit: 100, order: 'asc' } as const
  const path = { vector_store_id: storeId }
  const listed = await found(unwrap(api.GET('/v1/vector_stores/{vector_store_id}/files', { params: { path, query } })))
  if (listed === undefined) return []
  const { data } = listed
  const files = await Promise.all(
    data.map(async ({ id, status, last_error: error }): Promise<ChatFile[]> => {
      const file = await found(unwrap(api.GET('/v1/files/{file_id}', { params: { path: { file_id: id } } })))
      if (file === undefined) return []
      return [{ id, name: file.filename, bytes: file.bytes, status: statuses[status], error: error?.message }]
    }),
  )
  return files.flat()
}

/** The vector store of the chat; undefined if it has none, or none any more. */
async function storeOf(threadId: string): Promise<Schemas['V1VectorStore'] | undefined> {
  const path = { thread_id: threadId }
  const thread = await found(unwrap(api.GET('/v1/threads/{thread_id}', { params: { path } })))
  const id = thread?.tool_resources?.file_search?.vector_store_ids?.[0]
  if (id === undefined) return undefined
  const store = await found(
    unwrap(api.GET('/v1/vector_stores/{vector_store_id}', { params: { path: { vector_store_id: id } } })),
  )
  return store?.status === 'expired' ? undefined : store
}

/** Uploads a file into the project, for so many days, or to stay. */
export async function uploadFile(file: File, days?: number): Promise<string> {
  const form = new FormData()
  form.append('purpose', 'assistants')
  if (days !== undefined) {
    form.append('expires_after[anchor]', 'created_at')
    form.append('expires_after[seconds]', String(days * 86_400))
  }
  form.append('file', file)
  return (await sendBody<Schemas['V1File']>('/v1/files', form, { onProgress: () => {} })).id
}

export async function removeFile(fileId: string): Promise<void> {
  await found(unwrap(api.DELETE('/v1/files/{file_id}', { params: { path: { file_id: fileId } } })))
}

/** Uploads a file for this chat alone; its processing begins. */
export async function addChatFile(threadId: string, file: File): Promise<void> {
  const id = await uploadFile(file, keptDays)
  const store = await storeOf(threadId)
  if (store === undefined) {
    const body = { file_ids: [id], expires_after: { anchor: 'last_active_at' as const, days: keptDays } }
    const made = await unwrap(api.POST('/v1/vector_stores', { body }))
    const resources = { file_search: { vector_store_ids: [made.id] } }
    const path = { thread_id: threadId }
    await unwrap(api.POST('/v1/threads/{thread_id}', { params: { path }, body: { tool_resources: resources } }))
  } else {
    const path = { vector_store_id: store.id }
    await unwrap(api.POST('/v1/vector_stores/{vector_store_id}/files', { params: { path }, body: { file_id: id } }))
  }
  await queryClient.invalidateQueries({ queryKey: keys.chatFiles(threadId) })
}

export async function removeChatFile(threadId: string, fileId: string): Promise<void> {
  await removeFile(fileId)
  await queryClient.invalidateQueries({ queryKey: keys.chatFiles(threadId) })
}

/** Before the chat itself is deleted. What this cannot delete expires. */
export async function removeChatFiles(threadId: string): Promise<void> {
  for (const { id } of await readChatFiles(threadId)) await removeChatFile(threadId, id)
  const store = await storeOf(threadId)
  if (store === undefined) return
  const path = { vector_store_id: store.id }
  await found(unwrap(api.DELETE('/v1/vector_stores/{vector_store_id}', { params: { path } })))
}

/** Undefined for what is not there. */
async function found<T>(asked: Promise<T>): Promise<T | undefined> {
  return asked.catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  })
}
