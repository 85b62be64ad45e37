import type { Thread } from './api.ts'

/** What of a drag says that it is a chat, and that the chat is in a folder. */
export const draggedType = 'application/x-chat'
export const fromFolderType = 'application/x-chat-in-folder'

/** Begins to drag a chat; its link is what the browser drags. */
export function dragChat(transfer: DataTransfer, { thread_id: id, folder_id: folder }: Thread): void {
  transfer.setData(draggedType, id)
  if (folder !== null) transfer.setData(fromFolderType, folder)
}
