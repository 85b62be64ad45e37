import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { Download, Ellipsis, Pencil, Trash2 } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { type Thread, api, keys, queryClient, unwrap, wordsOf } from '../../lib/api.ts'
import { useFoundThreads } from '../../lib/found-threads.ts'
import { type Period, periodOf } from '../../lib/period.ts'
import { say } from '../../lib/toasts.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { texts } from '../../texts/index.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Problem, Skeleton } from '../../ui/states.tsx'

const t = texts.nav

/**
 * The chats of the project by when they were last used, with a search by name. Older pages are loaded when the end of
 * the list comes into view, and for a search that has found few.
 */
export function ThreadList() {
  const [words, setWords] = useState('')
  const { threadId } = useParams({ strict: false })
  const { pages, known, found, searchesOn } = useFoundThreads(words)
  const { hasNextPage, isFetching, fetchNextPage } = pages
  const periods = Object.groupBy(found, ({ updated_at: at }) => periodOf(at))
  return (
    <section className="threads" aria-labelledby="chats-title">
      <h2 className="section-label" id="chats-title">
        {t.chats}
      </h2>
      {known.length > 0 && (
        <input
          type="search"
          className="input"
          placeholder={t.searchChats}
          aria-label={t.searchChats}
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
      )}
      {pages.isPending && <Skeleton lines={4} height={26} />}
      {pages.isError && <Problem error={pages.error} onRetry={() => void pages.refetch()} />}
      {pages.data && found.length === 0 && !searchesOn && (
        <p className="muted small thread-none">{words ? t.noMatch : t.noChats}</p>
      )}
      {Object.entries(periods).map(([period, threads]) => (
        <div key={period}>
          <h3 className="thread-period">{t.periods[period as Period]}</h3>
          <ul className="thread-list">
            {threads.map((thread) => (
              <ThreadItem key={thread.thread_id} thread={thread} isCurrent={thread.thread_id === threadId} />
            ))}
          </ul>
        </div>
      ))}
      {searchesOn && (
        <p className="muted small thread-none" role="status">
          {t.searchingOlder}
        </p>
      )}
      {hasNextPage && !searchesOn && <Older isBusy={isFetching} onWanted={() => void fetchNextPage()} />}
    </section>
  )
}

/** Loads the next page when it comes into view; also a button, for those who do not scroll. */
function Older({ isBusy, onWanted }: { isBusy: boolean; onWanted: () => void }) {
  const end = useRef<HTMLDivElement>(null)
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    const observer = new IntersectionObserver((entries) =>
      setSeen(entries.some(({ isIntersecting }) => isIntersecting)),
    )
    if (end.current) observer.observe(end.current)
    return () => observer.disconnect()
  }, [])
  useEffect(() => {
    if (isSeen && !isBusy) onWanted()
    // Wanted once for each time that it is in view and the page before has come.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [isSeen, isBusy])
  return (
    <div ref={end}>
      <Button size="small" wide busy={isBusy} onClick={onWanted}>
        {t.olderChats}
      </Button>
    </div>
  )
}

function ThreadItem({ thread, isCurrent }: { thread: Thread; isCurrent: boolean }) {
  const [open, setOpen] = useState<'rename' | 'delete'>()
  const navigate = useNavigate()
  const name = thread.name || texts.chat.untitled
  const remove = async () => {
    const { removeChatFiles } = await import('../../lib/chat-files.ts')
    // What is not deleted now expires; the chat can go.
    await removeChatFiles(thread.thread_id).catch(() => undefined)
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
            label: t.download,
            icon: <Download size={15} aria-hidden="true" />,
            onSelect: () => void download(thread),
          },
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

async function download(thread: Thread): Promise<void> {
  try {
    await (await import('../../lib/chat-markdown.ts')).downloadChat(thread)
  } catch (error) {
    say(wordsOf(error, texts.offline), 'danger')
  }
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
