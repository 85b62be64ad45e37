import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { type Schemas, api, keys, queryClient, unwrap, whenBack } from './api.ts'
import { type ChatFile, filesOf, removeFile, uploadFile } from './chat-files.ts'

export type Folder = Schemas['Folder']

const pathOf = (id: string) => ({ params: { path: { folder_id: id } } })
const threadsInPage = 50
const lookMs = 1500

/** The user's folders in the project, by name. */
export const useFolders = () =>
  useQuery({ queryKey: keys.folders, queryFn: () => unwrap(api.GET('/folders/')), ...whenBack })

/** In which folder this chat is. */
export const useFolderOf = (threadId: string | undefined): string | null | undefined =>
  useQuery({
    queryKey: keys.thread(threadId ?? ''),
    queryFn: () => unwrap(api.GET('/threads/{tid}', { params: { path: { tid: threadId ?? '' } } })),
    enabled: threadId !== undefined,
  }).data?.folder_id

/** The chats of a folder, newest first, in pages. */
export const useFolderThreads = (id: string) =>
  useInfiniteQuery({
    queryKey: [...keys.threads, 'folder', id],
    ...whenBack,
    initialPageParam: 0,
    queryFn: ({ pageParam: offset }) =>
      unwrap(api.GET('/threads/', { params: { query: { limit: threadsInPage, offset, folder_id: id } } })),
    getNextPageParam: ({ threads, total, offset }) => {
      const next = offset + threads.length
      return threads.length > 0 && next < total ? next : undefined
    },
  })

export async function createFolder(name: string): Promise<Folder> {
  const folder = await unwrap(api.POST('/folders/', { body: { name } }))
  await queryClient.invalidateQueries({ queryKey: keys.folders })
  return folder
}

export async function changeFolder(id: string, body: Schemas['FolderPutRequest']): Promise<void> {
  await unwrap(api.PUT('/folders/{folder_id}', { ...pathOf(id), body }))
  await queryClient.invalidateQueries({ queryKey: keys.folders })
}

/** With its files; its chats go back to the list. */
export async function removeFolder(id: string): Promise<void> {
  await unwrap(api.DELETE('/folders/{folder_id}', pathOf(id)))
  await Promise.all([keys.folders, keys.threads].map((queryKey) => queryClient.invalidateQueries({ queryKey })))
}

/** Null: into none. */
export async function moveToFolder(threadId: string, folderId: string | null): Promise<void> {
  await unwrap(api.PUT('/threads/{tid}', { params: { path: { tid: threadId } }, body: { folder_id: folderId } }))
  await Promise.all(
    [keys.threads, keys.thread(threadId)].map((queryKey) => queryClient.invalidateQueries({ queryKey })),
  )
}

export const useFolderFiles = ({ folder_id: id, vector_store_id: storeId }: Folder) =>
  useQuery({
    queryKey: keys.folderFiles(id, storeId),
    queryFn: async (): Promise<ChatFile[]> => (storeId === null ? [] : filesOf(storeId)),
    refetchInterval: ({ state }) => (state.data?.some(({ status }) => status === 'processing') ? lookMs : false),
  })

export async function addFolderFile(id: string, file: File): Promise<void> {
  const fileId = await uploadFile(file)
  await unwrap(api.POST('/folders/{folder_id}/files', { ...pathOf(id), body: { file_id: fileId } }))
  await Promise.all(
    [keys.folders, keys.filesOfFolder(id)].map((queryKey) => queryClient.invalidateQueries({ queryKey })),
  )
}

export async function removeFolderFile(id: string, fileId: string): Promise<void> {
  await removeFile(fileId)
  await queryClient.invalidateQueries({ queryKey: keys.filesOfFolder(id) })
}
