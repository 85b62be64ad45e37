import { Link, useNavigate } from '@tanstack/react-router'
import {
  Download,
  Ellipsis,
  FolderArchive,
  FolderInput,
  FolderOutput,
  Link2,
  Pencil,
  Pin,
  PinOff,
  Printer,
  Tags,
  Trash2,
  UsersRound,
} from 'lucide-react'
import { Suspense, memo, useState } from 'react'
import { type Thread, api, keys, queryClient, unwrap, wordsOf } from '../../lib/api.ts'
import { dragChat } from '../../lib/dragged-chat.ts'
import { useIsOwn, useMembership } from '../../lib/membership.ts'
import { say } from '../../lib/toasts.ts'
import { texts } from '../../texts/index.ts'
import { IconButton } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { lazyPart } from '../../ui/lazy-part.ts'
import { Menu } from '../../ui/menu.tsx'

const dialogs = () => import('./thread-dialogs.tsx')
const RenameDialog = lazyPart(async () => ({ default: (await dialogs()).RenameDialog }))
const TagsDialog = lazyPart(async () => ({ default: (await dialogs()).TagsDialog }))
const ShareDialog = lazyPart(async () => ({ default: (await dialogs()).ShareDialog }))
const MoveDialog = lazyPart(() => import('./folders/move-dialog.tsx'))
const t = texts.nav

export interface Selection {
  has: (threadId: string) => boolean
  toggle: (threadId: string) => void
}

interface ThreadItemProps {
  thread: Thread
  isCurrent: boolean
  /** Set while chats are being chosen. */
  selection: Selection | undefined
}

/** A chat in the list, with what can be done with it. A list of hundreds is drawn again with each chat that is opened. */
export const ThreadItem = memo(function ThreadItem({ thread, isCurrent, selection }: ThreadItemProps) {
  const [open, setOpen] = useState<'rename' | 'tags' | 'share' | 'move' | 'delete'>()
  const navigate = useNavigate()
  const { thread_id: threadId, pinned, archived } = thread
  const isOwn = useIsOwn(thread)
  const canChange = useMembership().may('member') && isOwn
  const name = thread.name || texts.chat.untitled
  const close = () => setOpen(undefined)
  const remove = async () => {
    const { removeChatFiles } = await import('../../lib/chat-files.ts')
    // What is not deleted now expires; the chat can go.
    await removeChatFiles(threadId).catch(() => undefined)
    await unwrap(api.DELETE('/threads/{tid}', { params: { path: { tid: threadId } } }))
    if (isCurrent) await navigate({ to: '/console/chat' })
    await queryClient.invalidateQueries({ queryKey: keys.threads })
  }
  if (selection && !isOwn) return undefined
  if (selection)
    return (
      <li className="thread-item">
        <label className="thread-choice">
          <input type="checkbox" checked={selection.has(threadId)} onChange={() => selection.toggle(threadId)} />
          <span className="truncate">{name}</span>
        </label>
      </li>
    )
  return (
    <li
      className="thread-item"
      data-current={isCurrent}
      onDragStart={canChange ? (event) => dragChat(event.dataTransfer, thread) : undefined}
    >
      <Link
        to="/console/chat/$threadId"
        params={{ threadId }}
        className="truncate"
        activeProps={{ 'aria-current': 'page' }}
        activeOptions={{ includeSearch: false }}
        title={name}
      >
        {name}
        {thread.visibility === 'project' && <SharedMark thread={thread} isOwn={isOwn} />}
      </Link>
      <Menu
        trigger={<IconButton label={texts.more(name)} icon={<Ellipsis size={16} />} />}
        entries={[
          ...(canChange
            ? [
                {
                  label: pinned ? t.unpin : t.pin,
                  icon: pinned ? <PinOff size={15} aria-hidden="true" /> : <Pin size={15} aria-hidden="true" />,
                  onSelect: () => void attempt(() => pin(thread)),
                },
                {
                  label: texts.rename,
                  icon: <Pencil size={15} aria-hidden="true" />,
                  onSelect: () => setOpen('rename'),
                },
                { label: t.editTags, icon: <Tags size={15} aria-hidden="true" />, onSelect: () => setOpen('tags') },
                {
                  label: t.move,
                  icon: <FolderInput size={15} aria-hidden="true" />,
                  onSelect: () => setOpen('move'),
                },
                { label: t.share, icon: <Link2 size={15} aria-hidden="true" />, onSelect: () => setOpen('share') },
              ]
            : []),
          {
            label: t.download,
            icon: <Download size={15} aria-hidden="true" />,
            onSelect: () => void attempt(async () => (await import('../../lib/chat-markdown.ts')).downloadChat(thread)),
          },
          {
            label: t.print,
            icon: <Printer size={15} aria-hidden="true" />,
            onSelect: () => void window.open(`/console/print/${encodeURIComponent(threadId)}`, '_blank', 'noopener'),
          },
          ...(canChange
            ? [
                {
                  label: archived ? t.unarchive : t.archive,
                  icon: archived ? (
                    <FolderOutput size={15} aria-hidden="true" />
                  ) : (
                    <FolderArchive size={15} aria-hidden="true" />
                  ),
                  onSelect: () =>
                    void attempt(async () =>
                      (await import('../../lib/archive-threads.ts')).archive([threadId], !archived),
                    ),
                },
                {
                  label: texts.delete,
                  danger: true,
                  icon: <Trash2 size={15} aria-hidden="true" />,
                  onSelect: () => setOpen('delete'),
                },
              ]
            : []),
        ]}
      />
      <Suspense>
        {open === 'rename' && <RenameDialog thread={thread} onClose={close} />}
        {open === 'tags' && <TagsDialog thread={thread} onClose={close} />}
        {open === 'share' && <ShareDialog thread={thread} onClose={close} />}
        {open === 'move' && <MoveDialog thread={thread} onClose={close} />}
      </Suspense>
      {open === 'delete' && (
        <ConfirmDialog
          title={texts.chat.deleteTitle}
          text={texts.chat.deleteText(name)}
          action={texts.delete}
          onConfirm={remove}
          onClose={close}
        />
      )}
    </li>
  )
})

/** Beside the name of a chat that the project sees. */
function SharedMark({ thread, isOwn }: { thread: Thread; isOwn: boolean }) {
  const words = isOwn ? texts.roles.shared : texts.roles.madeBy(thread.created_by?.name ?? texts.roles.gone)
  return (
    <span className="muted">
      {' '}
      <UsersRound size={13} aria-hidden="true" />
      <span className={isOwn ? 'visually-hidden' : 'small'}> {words}</span>
    </span>
  )
}

async function pin({ thread_id: tid, pinned }: Thread): Promise<void> {
  await unwrap(api.PUT('/threads/{tid}', { params: { path: { tid } }, body: { pinned: !pinned } }))
  await queryClient.invalidateQueries({ queryKey: keys.threads })
}

async function attempt(action: () => Promise<unknown>): Promise<void> {
  try {
    await action()
  } catch (error) {
    say(wordsOf(error, texts.offline), 'danger')
  }
}
