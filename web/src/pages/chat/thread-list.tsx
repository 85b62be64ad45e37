import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { FolderArchive, FolderPlus, ListChecks } from 'lucide-react'
import { Suspense, useEffect, useRef, useState } from 'react'
import { type Thread, usePinnedThreads, useTags } from '../../lib/api.ts'
import { deleteSoon, useHiddenThreads } from '../../lib/delayed-deletion.ts'
import { useFoundThreads } from '../../lib/found-threads.ts'
import { useKnowsFolders } from '../../lib/known-folders.ts'
import { useMembership } from '../../lib/membership.ts'
import { type Period, periodOf } from '../../lib/period.ts'
import { useLater } from '../../lib/use-later.ts'
import { texts } from '../../texts/index.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { lazyPart } from '../../ui/lazy-part.ts'
import { Loading } from '../../ui/states.tsx'
import { type Selection, ThreadItem } from './thread-item.tsx'

const FoundMessages = lazyPart(async () => ({ default: (await import('./found-messages.tsx')).FoundMessages }))
const Folders = lazyPart(() => import('./folders/folders.tsx'))
const t = texts.nav
/** Where none are known, the page and the first chat come before them. */
const foldersAfterMs = 10_000

/**
 * The chats of the project, the pinned ones first, then by when they were last used, with a search by name and by words
 * in messages. Older pages are loaded when the end of the list comes into view, and for a search that has found few.
 */
export function ThreadList() {
  const [words, setWords] = useState('')
  const [tag, setTag] = useState<string>()
  const [isArchive, setArchive] = useState(false)
  const [isMaking, setMaking] = useState(false)
  const isLater = useLater(foldersAfterMs)
  const knowsFolders = useKnowsFolders()
  const { threadId } = useParams({ strict: false })
  const { pages, known, found, searchesOn } = useFoundThreads(words, tag, isArchive)
  const pinnedOnes = usePinnedThreads(tag).data?.threads ?? []
  const pinned = isArchive ? [] : pinnedOnes
  const tags = useTags().data ?? []
  const hidden = useHiddenThreads()
  const selection = useSelection(threadId)
  const canChange = useMembership().may('member')
  const { hasNextPage, isFetching, fetchNextPage } = pages
  const shown = found.filter(({ thread_id: id }) => !hidden.has(id))
  const wanted = words.trim().toLowerCase()
  // Nothing to search in, and nothing to choose from.
  const isEmptyArchive = isArchive && known.length === 0 && words === '' && tag === undefined
  const isNarrowed = wanted !== '' || tag !== undefined || isArchive
  const first = pinned.filter(({ thread_id: id, name }) => !hidden.has(id) && name.toLowerCase().includes(wanted))
  const groups = [
    [t.pinned, first] as const,
    ...Object.entries(
      Object.groupBy(
        shown.filter(({ pinned: isPinned }) => isArchive || !isPinned),
        ({ updated_at: at }) => periodOf(at),
      ),
    ).map(([period, threads]) => [t.periods[period as Period], threads] as const),
  ]
  return (
    <section className="threads" aria-labelledby="chats-title">
      <div className="row threads-head">
        <h2 className="section-label grow truncate" id="chats-title">
          {isArchive ? t.archivedChats : t.chats}
        </h2>
        <IconButton
          label={isArchive ? t.showChats : t.showArchived}
          icon={<FolderArchive size={16} />}
          aria-pressed={isArchive}
          onClick={() => setArchive(!isArchive)}
        />
        {canChange && !isArchive && (
          <IconButton label={t.newFolder} icon={<FolderPlus size={16} />} onClick={() => setMaking(true)} />
        )}
        {known.length > 0 && canChange && (
          <IconButton
            label={selection.chosen ? t.endSelection : t.select}
            icon={<ListChecks size={16} />}
            aria-pressed={selection.chosen !== undefined}
            onClick={selection.toggle}
          />
        )}
      </div>
      {(known.length > 0 || words !== '' || tag !== undefined || (knowsFolders && !isArchive)) && (
        <input
          type="search"
          className="input"
          placeholder={t.searchChats}
          aria-label={t.searchChats}
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
      )}
      {!isEmptyArchive && <Tags tags={tags} chosen={tag} onChoose={setTag} />}
      {selection.chosen && (
        <div className="row threads-chosen">
          <span className="grow small" role="status">
            {t.chosen(selection.chosen.size)}
          </span>
          <Button size="small" disabled={selection.chosen.size === 0} onClick={() => selection.archive(!isArchive)}>
            {isArchive ? t.unarchive : t.archive}
          </Button>
          <Button size="small" look="danger" disabled={selection.chosen.size === 0} onClick={selection.remove}>
            {texts.delete}
          </Button>
        </div>
      )}
      <div className="threads-body">
        <Loading query={pages} lines={4} height={26} />
        {pages.data && shown.length + first.length === 0 && !searchesOn && (isNarrowed || !knowsFolders) && (
          <p className="muted small thread-none">{words || tag ? t.noMatch : isArchive ? t.noArchived : t.noChats}</p>
        )}
        {(isMaking || (!isNarrowed && (isLater || knowsFolders))) && (
          <Suspense>
            <Folders
              current={threadId}
              selection={selection.ofItems}
              isMaking={isMaking}
              onMade={() => setMaking(false)}
            />
          </Suspense>
        )}
        {groups.map(([label, threads]) => (
          <Group key={label} label={label} threads={threads} current={threadId} selection={selection.ofItems} />
        ))}
        {searchesOn && (
          <p className="muted small thread-none" role="status">
            {t.searchingOlder}
          </p>
        )}
        {hasNextPage && !searchesOn && <Older isBusy={isFetching} onWanted={() => void fetchNextPage()} />}
        {wanted !== '' && (
          <Suspense>
            <FoundMessages words={words} />
          </Suspense>
        )}
      </div>
    </section>
  )
}

interface GroupProps {
  label: string
  threads: Thread[]
  current: string | undefined
  selection: Selection | undefined
}

function Group({ label, threads, current, selection }: GroupProps) {
  if (threads.length === 0) return undefined
  return (
    <div>
      <h3 className="thread-period">{label}</h3>
      <ul className="thread-list">
        {threads.map((thread) => (
          <ThreadItem
            key={thread.thread_id}
            thread={thread}
            isCurrent={thread.thread_id === current}
            selection={selection}
          />
        ))}
      </ul>
    </div>
  )
}

function Tags(props: { tags: string[]; chosen: string | undefined; onChoose: (tag: string | undefined) => void }) {
  const { tags, chosen, onChoose } = props
  if (tags.length === 0) return undefined
  return (
    <div className="tags" role="group" aria-label={t.tags}>
      {tags.map((tag) => (
        <button
          key={tag}
          type="button"
          className="tag"
          aria-pressed={tag === chosen}
          onClick={() => onChoose(tag === chosen ? undefined : tag)}
        >
          {tag}
        </button>
      ))}
    </div>
  )
}

/** Which chats are chosen, to delete them together; undefined while none can be. */
function useSelection(current: string | undefined) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>()
  const navigate = useNavigate()
  const { choose } = useSearch({ strict: false })
  useEffect(() => {
    if (choose !== true) return
    setChosen(new Set())
    // The same link works again later.
    void navigate({ to: '/console/chat', replace: true })
  }, [choose, navigate])
  const ofItems: Selection | undefined = chosen && {
    has: (id) => chosen.has(id),
    toggle: (id) =>
      setChosen(chosen.has(id) ? new Set([...chosen].filter((one) => one !== id)) : new Set([...chosen, id])),
  }
  return {
    chosen,
    ofItems,
    toggle: () => setChosen(chosen ? undefined : new Set()),
    archive: (archived: boolean) => {
      if (!chosen) return
      const ids = [...chosen]
      void import('../../lib/archive-threads.ts').then(({ archive }) => archive(ids, archived))
      setChosen(undefined)
    },
    remove: () => {
      if (!chosen) return
      deleteSoon([...chosen])
      if (current !== undefined && chosen.has(current)) void navigate({ to: '/console/chat' })
      setChosen(undefined)
    },
  }
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
