import '../../styles/chat.css'
import '../../styles/print.css'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { Files, MessageCircleOff, UsersRound } from 'lucide-react'
import { Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { ApiError, type Thread } from '../../lib/api.ts'
import type { Turn as TurnData } from '../../lib/conversation.ts'
import { noteBegin, splitNote } from '../../lib/document-note.ts'
import { prepareReader } from '../../lib/markdown/reader.ts'
import { useIsOwn, useMembership } from '../../lib/membership.ts'
import { removeTestThread } from '../../lib/send-message.ts'
import { isTemporary } from '../../lib/temporary-chats.ts'
import { useLeaving } from '../../lib/use-leaving.ts'
import { useSame } from '../../lib/use-same.ts'
import { useTitle } from '../../lib/use-title.ts'
import { texts } from '../../texts/index.ts'
import { IconButton } from '../../ui/button.tsx'
import { Face } from '../../ui/face.tsx'
import { lazyPart } from '../../ui/lazy-part.ts'
import { Notice } from '../../ui/notice.tsx'
import { Empty, Problem, Skeleton } from '../../ui/states.tsx'
import { Announcement } from './announcement.tsx'
import { ChatModel } from './chat-model.tsx'
import { Composer } from './composer.tsx'
import { OpenDocumentContext } from './documents/context.ts'
import { EditDialog } from './edit-dialog.tsx'
import { Hello, Starters } from './hello.tsx'
import { NoComposer } from './no-composer.tsx'
import { type ScrollHandle, ScrollToEnd } from './scroll-to-end.tsx'
import { isGoingOn } from './turn-parts.ts'
import { Turns } from './turns.tsx'
import { useBeside } from './use-beside.ts'
import { useChat } from './use-chat.ts'
import { useTurnActions } from './use-turn-actions.ts'

const SourcePanel = lazyPart(async () => ({ default: (await import('./sources/source-panel.tsx')).SourcePanel }))
const EditAnswer = lazyPart(() => import('./edit-answer.tsx'))
const QuoteButton = lazyPart(() => import('./quote-button.tsx'))
const FollowUps = lazyPart(() => import('./follow-ups.tsx'))
const DocumentPanel = lazyPart(() => import('./documents/document-panel.tsx'))
const TakeAnswers = lazyPart(() => import('./documents/take-answers.tsx'))
const ChatFiles = lazyPart(() => import('./chat-files.tsx'))
const t = texts.chat

export function Chat() {
  const { threadId } = useParams({ from: '/console/chat/$threadId' })
  return <Conversation key={threadId} threadId={threadId} />
}

function Conversation({ threadId }: { threadId: string }) {
  const chat = useChat(threadId)
  const { thread, state, runs, turns, assistant, assistantId, current } = chat
  const { may } = useMembership()
  const readers = useReaders(thread.data)
  const canChat = may('member') && readers.canContinue
  const [edited, setEdited] = useState<TurnData>()
  const [editedAnswer, setEditedAnswer] = useState<TurnData>()
  const hasSelection = useHasSelected()
  const beside = useBeside(threadId)
  const [hasFilesOpen, setFilesOpen] = useState(false)
  const scroll = useRef<ScrollHandle>(null)
  /** Keeps what was written in the document by hand, and gives the note for a question; undefined if that failed. */
  const noting = useRef<() => Promise<string | undefined>>(undefined)
  const setNoting = useSame((next: typeof noting.current) => {
    noting.current = next
  })
  const send: typeof chat.send = async (content, pictures, addressed) => {
    scroll.current?.toEnd()
    const note = noting.current === undefined ? '' : await noting.current()
    return note !== undefined && chat.send(content + note, pictures, addressed)
  }
  const { followedOf } = chat
  const isOver = useCallback(
    (turn: TurnData) => !isGoingOn(turn.run, turn.run && followedOf(turn.run.run_id)),
    [followedOf],
  )
  const hasNotes = useMemo(() => turns.some(({ human }) => human?.data.content.includes(noteBegin)), [turns])
  useEffect(prepareReader, [])
  useLeaving(() => {
    if (isTemporary(threadId)) removeTestThread(threadId)
  })
  const actions = useTurnActions({
    onEdit: setEdited,
    onEditAnswer: setEditedAnswer,
    onRetry: chat.retry,
    onVersion: chat.showVersion,
    onSource: beside.openSource,
  })
  const { message: wanted } = useSearch({ from: '/console/chat/$threadId' })
  useFoundMessage(wanted, turns.length > 0)
  useTitle(thread.data?.name || t.untitled)
  const problem = thread.error ?? state.error ?? runs.error
  if (problem instanceof ApiError && problem.status === 404) return <GoneChat />
  const omitted = state.data?.metadata.omitted_messages ?? 0
  const lastAsked = current === undefined ? turns.findLast(({ human }) => human !== undefined) : undefined
  const changedAnswer = editedAnswer?.answers.at(-1)
  const isNew = state.data !== undefined && turns.length === 0
  return (
    <div className="chat-page">
      <div className="chat" data-new={isNew}>
        <header className="chat-head">
          <h1 className="grow truncate" title={thread.data?.name}>
            {thread.data ? thread.data.name || t.untitled : texts.loading}
          </h1>
          {readers.isShared && (
            <span className="tag" title={readers.help}>
              <UsersRound size={13} aria-hidden="true" />{' '}
              {readers.isOwn ? texts.roles.shared : texts.roles.madeBy(readers.maker)}
              <span className="visually-hidden"> {readers.help}</span>
            </span>
          )}
          {isTemporary(threadId) && (
            <span className="tag" title={t.temporaryHelp}>
              {t.temporaryTag}
            </span>
          )}
          <IconButton label={texts.chatFiles.title} icon={<Files size={17} />} onClick={() => setFilesOpen(true)} />
          {assistant && (
            <Link
              to="/console/assistants/$assistantId"
              params={{ assistantId: assistant.assistant_id }}
              className="chat-assistant"
            >
              <Face name={assistant.name} size={22} />
              <span className="truncate">{assistant.name}</span>
            </Link>
          )}
        </header>
        <ScrollToEnd ref={scroll} said={chat.said}>
          <div className="chat-column">
            {problem && (
              <Problem
                error={problem}
                onRetry={() => void Promise.all([thread, state, runs].map((query) => query.refetch()))}
              />
            )}
            {state.isPending && <Skeleton lines={6} />}
            {thread.data?.archived && <Archived threadId={threadId} />}
            {omitted > 0 && <Notice>{t.older(omitted)}</Notice>}
            {isNew && assistant && <Hello assistant={assistant} />}
            <OpenDocumentContext value={canChat ? beside.openDocument : undefined}>
              <Turns chat={chat} actions={actions} wanted={wanted} canChat={canChat} />
            </OpenDocumentContext>
            {canChat && turns.length > 0 && (
              <Suspense>
                <FollowUps
                  thread={thread.data}
                  lastRun={turns.at(-1)?.run}
                  isCut={turns.at(-1)?.answers.at(-1)?.data.cut === 'length'}
                  isBusy={current !== undefined}
                  onSend={(text) => void send(text)}
                />
              </Suspense>
            )}
          </div>
        </ScrollToEnd>
        <Announcement
          turns={turns}
          isBusy={current !== undefined}
          isFollowed={(runId) => chat.followedOf(runId) !== undefined}
        />
        {canChat ? (
          <Composer
            chat={threadId}
            assistantId={assistantId}
            isBusy={current !== undefined}
            onSend={send}
            onStop={chat.stop}
            onEditLast={lastAsked && (() => setEdited(lastAsked))}
          >
            <ChatModel chat={threadId} />
          </Composer>
        ) : (
          <NoComposer maker={may('member') ? readers.maker : undefined} />
        )}
        {isNew && assistant && canChat && (
          <Starters assistant={assistant} chat={threadId} onSend={(text) => void send(text)} />
        )}
      </div>
      {beside.source && (
        <Suspense>
          <SourcePanel assistantId={assistantId} {...beside.source} onShow={beside.showSource} onClose={beside.close} />
        </Suspense>
      )}
      {beside.document && (
        <Suspense>
          <DocumentPanel
            key={beside.document.documentId}
            threadId={threadId}
            opened={beside.document}
            canEdit={canChat}
            onNoting={setNoting}
            onAsk={(text) => send(text)}
            onClose={beside.close}
          />
        </Suspense>
      )}
      {canChat && hasNotes && (
        <Suspense>
          <TakeAnswers threadId={threadId} turns={turns} isOver={isOver} />
        </Suspense>
      )}
      {hasFilesOpen && (
        <Suspense>
          <ChatFiles
            threadId={threadId}
            folderId={thread.data?.folder_id}
            assistant={assistant}
            onDocument={(documentId) => {
              setFilesOpen(false)
              beside.openDocument({ documentId })
            }}
            onClose={() => setFilesOpen(false)}
          />
        </Suspense>
      )}
      {hasSelection && (
        <Suspense>
          <QuoteButton chat={threadId} />
        </Suspense>
      )}
      {changedAnswer && (
        <Suspense>
          <EditAnswer threadId={threadId} answer={changedAnswer} onClose={() => setEditedAnswer(undefined)} />
        </Suspense>
      )}
      {edited && (
        <EditDialog
          text={splitNote(edited.human?.data.content ?? '').text}
          onSend={(text) => chat.sendVersion(edited, text + splitNote(edited.human?.data.content ?? '').note)}
          onBranch={(text) => chat.branch(edited, text)}
          onClose={() => setEdited(undefined)}
        />
      )}
    </div>
  )
}

/** Whether something was selected since the chat was opened: before, nothing of that is loaded. */
function useHasSelected(): boolean {
  const [has, setHas] = useState(false)
  useEffect(() => {
    const look = () => document.getSelection()?.isCollapsed === false && setHas(true)
    document.addEventListener('selectionchange', look)
    return () => document.removeEventListener('selectionchange', look)
  }, [])
  return has
}

/** Goes to the message that the address names, once it is there. It may be in another version. */
function useFoundMessage(message: string | undefined, isThere: boolean): void {
  useEffect(() => {
    if (message === undefined || !isThere) return
    const found = document.querySelector(`[data-message="${CSS.escape(message)}"]`)
    if (!(found instanceof HTMLElement)) return
    found.scrollIntoView({ block: 'center' })
    found.focus({ preventScroll: true })
  }, [message, isThere])
}

/** Says that the chat stands in another list, and takes it back. */
function Archived({ threadId }: { threadId: string }) {
  return (
    <Notice>
      {t.isArchived}{' '}
      <button
        type="button"
        className="link-button"
        onClick={() => void import('../../lib/archive-threads.ts').then(({ archive }) => archive([threadId], false))}
      >
        {texts.nav.unarchive}
      </button>
    </Notice>
  )
}

/** Who else sees the chat, and whether the user may go on with it. */
function useReaders(thread: Thread | undefined) {
  const isOwn = useIsOwn(thread ?? { visibility: 'private', created_by: null })
  const isShared = thread?.visibility === 'project'
  const isContinued = thread?.project_access === 'continue'
  return {
    isOwn,
    isShared,
    maker: thread?.created_by?.name ?? texts.roles.gone,
    canContinue: isOwn || isContinued,
    help: isContinued ? texts.roles.sharedContinue : texts.roles.sharedRead,
  }
}

function GoneChat() {
  return (
    <div className="page">
      <Empty icon={<MessageCircleOff size={32} aria-hidden="true" />} title={t.gone} text={t.goneText} isPage>
        <Link to="/console/chat" className="button button-primary">
          {texts.nav.newChat}
        </Link>
      </Empty>
    </div>
  )
}
