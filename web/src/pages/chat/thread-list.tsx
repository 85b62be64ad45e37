import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { Ellipsis, Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { type Thread, api, keys, queryClient, unwrap, useThreads } from '../../lib/api.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { texts } from '../../texts/index.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Problem, Skeleton } from '../../ui/states.tsx'

const t = texts.nav

/** The chats of the project, newest first, with a search by name. */
export function ThreadList() {
  const threads = useThreads()
  const [words, setWords] = useState('')
  const { threadId } = useParams({ strict: false })
  const found = (threads.data?.threads ?? []).filter(({ name }) =>
    name.toLowerCase().includes(words.trim().toLowerCase()),
  )
  return (
    <section className="threads" aria-labelledby="chats-title">
      <h2 className="section-label" id="chats-title">
        {t.chats}
      </h2>
      {(threads.data?.threads.length ?? 0) > 5 && (
        <input
          type="search"
          className="input"
          placeholder={t.searchChats}
          aria-label={t.searchChats}
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
      )}
      {threads.isPending && <Skeleton lines={4} height={26} />}
      {threads.isError && <Problem error={threads.error} onRetry={() => void threads.refetch()} />}
      {threads.data && found.length === 0 && <p className="muted small thread-none">{words ? t.noMatch : t.noChats}</p>}
      <ul className="thread-list">
        {found.map((thread) => (
          <ThreadItem key={thread.thread_id} thread={thread} isCurrent={thread.thread_id === threadId} />
        ))}
      </ul>
    </section>
  )
}

function ThreadItem({ thread, isCurrent }: { thread: Thread; isCurrent: boolean }) {
  const [open, setOpen] = useState<'rename' | 'delete'>()
  const navigate = useNavigate()
  const name = thread.name || texts.chat.untitled
  const remove = async () => {
    await unwrap(api.DELETE('/threads/{tid}', { params: { path: { tid: thread.thread_id } } }))
    if (isCurrent) await navigate({ to: '/console/chat' })
    await queryClient.invalidateQueries({ queryKey: keys.threads })
  }
  return (
    <li className="thread-item" data-current={isCurrent}>
      <Link
        to="/console/chat/$threadId"
        params={{ threadId: thread.thread_id }}
        className="truncate"
        activeProps={{ 'aria-current': 'page' }}
        title={name}
      >
        {name}
      </Link>
      <Menu
        trigger={<IconButton label={texts.more(name)} icon={<Ellipsis size={16} />} />}
        entries={[
          { label: texts.rename, icon: <Pencil size={15} aria-hidden="true" />, onSelect: () => setOpen('rename') },
          {
            label: texts.delete,
            danger: true,
            icon: <Trash2 size={15} aria-hidden="true" />,
            onSelect: () => setOpen('delete'),
          },
        ]}
      />
      {open === 'rename' && <RenameDialog thread={thread} onClose={() => setOpen(undefined)} />}
      {open === 'delete' && (
        <ConfirmDialog
          title={texts.chat.deleteTitle}
          text={texts.chat.deleteText(name)}
          action={texts.delete}
          onConfirm={remove}
          onClose={() => setOpen(undefined)}
        />
      )}
    </li>
  )
}

function RenameDialog({ thread, onClose }: { thread: Thread; onClose: () => void }) {
  const [name, setName] = useState(thread.name)
  const form = useSubmit(async () => {
    await unwrap(
      api.PUT('/threads/{tid}', { params: { path: { tid: thread.thread_id } }, body: { name: name.trim() } }),
    )
    await Promise.all([
      queryClient.invalidateQueries({ queryKey: keys.threads }),
      queryClient.invalidateQueries({ queryKey: keys.thread(thread.thread_id) }),
    ])
    onClose()
  })
  return (
    <Dialog title={texts.chat.renameTitle} onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        {form.problem && <Notice tone="danger">{form.problem}</Notice>}
        <TextField label={texts.name} value={name} onValue={setName} maxLength={200} required autoFocus />
        <div className="row row-end">
          <Button onClick={onClose}>{texts.cancel}</Button>
          <Button type="submit" look="primary" busy={form.isBusy}>
            {texts.rename}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
