import '../../styles/chat.css'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { Files, MessageCircleOff } from 'lucide-react'
import { Suspense, lazy, useEffect, useRef, useState } from 'react'
import { ApiError } from '../../lib/api.ts'
import type { Turn as TurnData } from '../../lib/conversation.ts'
import { prepareReader } from '../../lib/markdown/reader.ts'
import { removeTestThread } from '../../lib/send-message.ts'
import { isTemporary } from '../../lib/temporary-chats.ts'
import { useLeaving } from '../../lib/use-leaving.ts'
import { useTitle } from '../../lib/use-title.ts'
import { texts } from '../../texts/index.ts'
import { IconButton } from '../../ui/button.tsx'
import { Face } from '../../ui/face.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Empty, Problem, Skeleton } from '../../ui/states.tsx'
import { Announcement } from './announcement.tsx'
import { ChatModel } from './chat-model.tsx'
import { Composer } from './composer.tsx'
import { EditDialog } from './edit-dialog.tsx'
import { Hello, Starters } from './hello.tsx'
import { type ScrollHandle, ScrollToEnd } from './scroll-to-end.tsx'
import { Turns } from './turns.tsx'
import { useChat } from './use-chat.ts'
import { useSourcePanel } from './use-source-panel.ts'
import { useTurnActions } from './use-turn-actions.ts'

const SourcePanel = lazy(async () => ({ default: (await import('./sources/source-panel.tsx')).SourcePanel }))
const ChatFiles = lazy(() => import('./chat-files.tsx'))
const t = texts.chat

export function Chat() {
  const { threadId } = useParams({ from: '/console/chat/$threadId' })
  return <Conversation key={threadId} threadId={threadId} />
}

function Conversation({ threadId }: { threadId: string }) {
  const chat = useChat(threadId)
  const { thread, state, runs, turns, assistant, assistantId, current } = chat
  const [edited, setEdited] = useState<TurnData>()
  const panel = useSourcePanel()
  const [hasFilesOpen, setFilesOpen] = useState(false)
  const scroll = useRef<ScrollHandle>(null)
  const send: typeof chat.send = (content, pictures) => {
    scroll.current?.toEnd()
    return chat.send(content, pictures)
  }
  useEffect(prepareReader, [])
  useLeaving(() => {
    if (isTemporary(threadId)) removeTestThread(threadId)
  })
  const actions = useTurnActions({
    onEdit: setEdited,
    onRetry: chat.retry,
    onVersion: chat.showVersion,
    onSource: panel.open,
  })
  const { message: wanted } = useSearch({ from: '/console/chat/$threadId' })
  useFoundMessage(wanted, turns.length > 0)
  useTitle(thread.data?.name || t.untitled)
  const problem = thread.error ?? state.error ?? runs.error
  if (problem instanceof ApiError && problem.status === 404) return <GoneChat />
  const omitted = state.data?.metadata.omitted_messages ?? 0
  const isNew = state.data !== undefined && turns.length === 0
  return (
    <div className="chat-page">
      <div className="chat" data-new={isNew}>
        <header className="chat-head">
          <h1 className="grow truncate" title={thread.data?.name}>
            {thread.data ? thread.data.name || t.untitled : texts.loading}
          </h1>
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
        <ScrollToEnd ref={scroll}>
          <div className="chat-column">
            {problem && (
              <Problem
                error={problem}
                onRetry={() => void Promise.all([thread, state, runs].map((query) => query.refetch()))}
              />
            )}
            {state.isPending && <Skeleton lines={6} />}
            {omitted > 0 && <Notice>{t.older(omitted)}</Notice>}
            {isNew && assistant && <Hello assistant={assistant} />}
            <Turns chat={chat} actions={actions} wanted={wanted} />
          </div>
        </ScrollToEnd>
        <Announcement
          turns={turns}
          isBusy={current !== undefined}
          isFollowed={(runId) => chat.followedOf(runId) !== undefined}
        />
        <Composer
          chat={threadId}
          assistantId={assistantId}
          isBusy={current !== undefined}
          onSend={send}
          onStop={chat.stop}
        >
          <ChatModel chat={threadId} />
        </Composer>
        {isNew && assistant && <Starters assistant={assistant} chat={threadId} onSend={(text) => void send(text)} />}
      </div>
      {panel.shown && (
        <Suspense>
          <SourcePanel
            assistantId={assistantId}
            sources={panel.sources}
            shown={panel.shown}
            onShow={panel.show}
            onClose={panel.close}
          />
        </Suspense>
      )}
      {hasFilesOpen && (
        <Suspense>
          <ChatFiles threadId={threadId} assistant={assistant} onClose={() => setFilesOpen(false)} />
        </Suspense>
      )}
      {edited && (
        <EditDialog
          text={edited.human?.data.content ?? ''}
          onSend={(text) => chat.sendVersion(edited, text)}
          onBranch={(text) => chat.branch(edited, text)}
          onClose={() => setEdited(undefined)}
        />
      )}
    </div>
  )
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
