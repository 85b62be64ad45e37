import './folders.css'
import { useNavigate } from '@tanstack/react-router'
import { Ellipsis, FolderClosed, FolderOpen, Pencil, SquarePen, Trash2 } from 'lucide-react'
import { type DragEvent, useEffect, useState } from 'react'
import { type Thread, wordsOf } from '../../../lib/api.ts'
import { useHiddenThreads } from '../../../lib/delayed-deletion.ts'
import { draggedType, fromFolderType } from '../../../lib/dragged-chat.ts'
import {
  type Folder,
  moveToFolder,
  removeFolder,
  useFolderOf,
  useFolderThreads,
  useFolders,
} from '../../../lib/folders.ts'
import { keepKnown } from '../../../lib/known-folders.ts'
import { useMembership } from '../../../lib/membership.ts'
import { say } from '../../../lib/toasts.ts'
import { folderMessages as t } from '../../../texts/folders.ts'
import { texts } from '../../../texts/index.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { ConfirmDialog } from '../../../ui/dialog.tsx'
import { Menu } from '../../../ui/menu.tsx'
import { Skeleton } from '../../../ui/states.tsx'
import { type Selection, ThreadItem } from '../thread-item.tsx'
import { FolderDialog } from './folder-dialog.tsx'
import { NewFolderDialog } from './new-folder-dialog.tsx'

const openKey = 'assistant-platform.open-folders'

interface FoldersProps {
  /** The chat that is open. */
  current: string | undefined
  selection: Selection | undefined
  isMaking: boolean
  onMade: () => void
}

/** The folders in the list of chats, each with its chats. Chats are dragged into them and out of them. */
export default function Folders({ current, selection, isMaking, onMade }: FoldersProps) {
  const folders = useFolders().data
  const [open, setOpen] = useState(readOpen)
  const isDraggingOut = useDraggingOut()
  useEffect(() => {
    if (folders !== undefined) keepKnown(folders.length > 0)
  }, [folders])
  useEffect(() => sessionStorage.setItem(openKey, JSON.stringify(open)), [open])
  const toggle = (id: string) =>
    setOpen((before) => (before.includes(id) ? before.filter((one) => one !== id) : [...before, id]))
  // The chat that is open is seen in the list.
  const ofCurrent = useFolderOf(current)
  useEffect(() => {
    if (ofCurrent) setOpen((before) => [...before.filter((one) => one !== ofCurrent), ofCurrent])
  }, [current, ofCurrent])
  return (
    <>
      {folders !== undefined && folders.length > 0 && (
        <section className="folders" aria-labelledby="folders-title">
          <h3 className="thread-period" id="folders-title">
            {t.title}
          </h3>
          <ul className="thread-list">
            {folders.map((folder) => (
              <FolderItem
                key={folder.folder_id}
                folder={folder}
                isOpen={open.includes(folder.folder_id)}
                onToggle={() => toggle(folder.folder_id)}
                current={current}
                selection={selection}
              />
            ))}
          </ul>
          {isDraggingOut && <TakeOut />}
        </section>
      )}
      {isMaking && <NewFolderDialog onClose={onMade} />}
    </>
  )
}

interface FolderItemProps extends Pick<FoldersProps, 'current' | 'selection'> {
  folder: Folder
  isOpen: boolean
  onToggle: () => void
}

function FolderItem({ folder, isOpen, onToggle, current, selection }: FolderItemProps) {
  const { folder_id: id, name } = folder
  const [shown, setShown] = useState<'edit' | 'delete'>()
  const navigate = useNavigate()
  const canChange = useMembership().may('member')
  const { isOver, ...target } = useDropTarget((threadId) => moveByDrop(threadId, id, t.movedHere(name)))
  const close = () => setShown(undefined)
  return (
    <li className="folder" data-over={isOver} {...target}>
      <div className="thread-item">
        <button type="button" className="folder-name" aria-expanded={isOpen} onClick={onToggle} title={name}>
          {isOpen ? <FolderOpen size={16} aria-hidden="true" /> : <FolderClosed size={16} aria-hidden="true" />}
          <span className="truncate">{name}</span>
        </button>
        <Menu
          trigger={<IconButton label={texts.more(name)} icon={<Ellipsis size={16} />} />}
          entries={[
            ...(canChange
              ? [
                  {
                    label: t.newChat,
                    icon: <SquarePen size={15} aria-hidden="true" />,
                    onSelect: () => void navigate({ to: '/console/chat', search: { folder: id } }),
                  },
                ]
              : []),
            { label: t.edit, icon: <Pencil size={15} aria-hidden="true" />, onSelect: () => setShown('edit') },
            ...(canChange
              ? [
                  {
                    label: texts.delete,
                    danger: true,
                    icon: <Trash2 size={15} aria-hidden="true" />,
                    onSelect: () => setShown('delete'),
                  },
                ]
              : []),
          ]}
        />
      </div>
      {isOpen && <FolderThreads id={id} name={name} current={current} selection={selection} />}
      {shown === 'edit' && <FolderDialog folder={folder} onClose={close} />}
      {shown === 'delete' && (
        <ConfirmDialog
          title={t.deleteTitle}
          text={t.deleteText(name)}
          action={texts.delete}
          onConfirm={() => removeFolder(id)}
          onClose={close}
          onDone={() => say(t.deleted)}
        />
      )}
    </li>
  )
}

interface FolderThreadsProps extends Pick<FoldersProps, 'current' | 'selection'> {
  id: string
  name: string
}

function FolderThreads({ id, name, current, selection }: FolderThreadsProps) {
  const pages = useFolderThreads(id)
  const hidden = useHiddenThreads()
  const found = new Map<string, Thread>()
  for (const { threads } of pages.data?.pages ?? []) for (const one of threads) found.set(one.thread_id, one)
  const there = [...found.values()].filter(({ thread_id: threadId }) => !hidden.has(threadId))
  // Those stand at the top of the list.
  const shown = there.filter(({ pinned }) => !pinned)
  return (
    <div className="folder-chats">
      {pages.isPending && <Skeleton lines={2} height={26} />}
      {pages.data && shown.length === 0 && (
        <p className="muted small thread-none">{there.length === 0 ? t.empty : t.allPinned}</p>
      )}
      <ul className="thread-list" aria-label={`${t.open}: ${name}`}>
        {shown.map((thread) => (
          <ThreadItem
            key={thread.thread_id}
            thread={thread}
            isCurrent={thread.thread_id === current}
            selection={selection}
          />
        ))}
      </ul>
      {pages.hasNextPage && (
        <Button size="small" wide busy={pages.isFetching} onClick={() => void pages.fetchNextPage()}>
          {t.older}
        </Button>
      )}
    </div>
  )
}

/** Where a chat of a folder is dropped to stand in the list again. */
function TakeOut() {
  const { isOver, ...target } = useDropTarget((threadId) => moveByDrop(threadId, null, t.takenOut))
  return (
    <div className="folder-out" data-over={isOver} {...target}>
      {t.takeOut}
    </div>
  )
}

async function moveByDrop(threadId: string, folderId: string | null, done: string): Promise<void> {
  try {
    await moveToFolder(threadId, folderId)
    say(done)
  } catch (error) {
    say(wordsOf(error, texts.offline), 'danger')
  }
}

/** Takes chats that are dropped. */
function useDropTarget(onChat: (threadId: string) => Promise<void>) {
  const [isOver, setOver] = useState(false)
  const isChat = (event: DragEvent) => event.dataTransfer.types.includes(draggedType)
  return {
    isOver,
    onDragOver: (event: DragEvent) => {
      if (!isChat(event)) return
      event.preventDefault()
      setOver(true)
    },
    onDragLeave: () => setOver(false),
    onDrop: (event: DragEvent) => {
      setOver(false)
      if (!isChat(event)) return
      event.preventDefault()
      void onChat(event.dataTransfer.getData(draggedType))
    },
  }
}

/** Whether a chat of a folder is being dragged. */
function useDraggingOut(): boolean {
  const [isDragging, setDragging] = useState(false)
  useEffect(() => {
    const begin = (event: globalThis.DragEvent) => {
      // Chromium ends a drag at once whose page changes while it begins.
      if (event.dataTransfer?.types.includes(fromFolderType)) setTimeout(() => setDragging(true))
    }
    const end = () => setDragging(false)
    window.addEventListener('dragstart', begin)
    window.addEventListener('dragend', end)
    window.addEventListener('drop', end)
    return () => {
      window.removeEventListener('dragstart', begin)
      window.removeEventListener('dragend', end)
      window.removeEventListener('drop', end)
    }
  }, [])
  return isDragging
}

function readOpen(): string[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(openKey) ?? '[]')
    return Array.isArray(kept) ? kept.filter((id) => typeof id === 'string') : []
  } catch {
    return []
  }
}
