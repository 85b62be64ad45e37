import '../../styles/chat.css'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Bot, FileText, Hand, SlidersHorizontal } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import {
  type Assistant,
  type Message,
  type Run,
  api,
  configKey,
  keys,
  queryClient,
  unwrap,
  useAssistants,
  useFiles,
  wordsOf,
} from '../../lib/api.ts'
import { type Turn as TurnData, turnsOf } from '../../lib/conversation.ts'
import { follow, useFollowed } from '../../lib/run-followers.ts'
import { nameOf, newThread, sendMessage } from '../../lib/send-message.ts'
import { removeSent, useSentMessages } from '../../lib/sent-messages.ts'
import { say } from '../../lib/toasts.ts'
import { upload } from '../../lib/uploads.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { useTitle } from '../../lib/use-title.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextArea } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Empty, Problem, Skeleton } from '../../ui/states.tsx'
import { Composer } from './composer.tsx'
import { Turn, isGoingOn } from './turn.tsx'

const t = texts.chat
const noRuns: Run[] = []
const noMessages: Message[] = []
const lastAssistantKey = 'assistant-platform.last-assistant'

/** A chat that does not exist before its first message. */
export function NewChat() {
  useTitle(texts.nav.newChat)
  const assistants = useAssistants()
  const { assistant: wanted } = useSearch({ from: '/console/chat' })
  const [chosen, setChosen] = useState(() => wanted ?? localStorage.getItem(lastAssistantKey) ?? '')
  const navigate = useNavigate()
  const assistant = assistants.data?.find(({ assistant_id: id }) => id === chosen) ?? assistants.data?.[0]
  const send = async (text: string) => {
    if (!assistant) return false
    try {
      const threadId = await newThread(nameOf(text), assistant.assistant_id)
      await sendMessage({ threadId, assistantId: assistant.assistant_id, content: text })
      await navigate({ to: '/console/chat/$threadId', params: { threadId } })
      return true
    } catch (error) {
      say(wordsOf(error, texts.offline), 'danger')
      return false
    }
  }
  const choose = (id: string) => {
    setChosen(id)
    localStorage.setItem(lastAssistantKey, id)
  }
  if (assistants.isPending)
    return (
      <div className="page">
        <Skeleton lines={5} />
      </div>
    )
  if (assistants.isError)
    return (
      <div className="page">
        <Problem error={assistants.error} onRetry={() => void assistants.refetch()} />
      </div>
    )
  if (!assistant)
    return (
      <div className="page">
        <Empty icon={<Bot size={32} aria-hidden="true" />} title={t.noAssistants} text={t.noAssistantsText}>
          <Link to="/console/assistants" className="button button-primary">
            {texts.assistants.title}
          </Link>
        </Empty>
      </div>
    )
  return (
    <div className="chat">
      <header className="chat-head">
        <h1 className="grow truncate">{texts.nav.newChat}</h1>
      </header>
      <div className="chat-scroll">
        <div className="chat-column">
          <Hello assistant={assistant} onSend={(text) => void send(text)} />
        </div>
      </div>
      <Composer assistantId={assistant.assistant_id} isBusy={false} onSend={send} onStop={() => {}}>
        <AssistantSelect assistants={assistants.data} value={assistant.assistant_id} onChoose={choose} />
      </Composer>
    </div>
  )
}

function AssistantSelect(props: { assistants: Assistant[]; value: string; onChoose: (id: string) => void }) {
  return (
    <select
      className="composer-select"
      aria-label={t.assistant}
      value={props.value}
      onChange={(event) => props.onChoose(event.target.value)}
    >
      {props.assistants.map(({ assistant_id: id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  )
}

/** Suggestions for new users. */
function Hello({ assistant, onSend }: { assistant: Assistant; onSend: (text: string) => void }) {
  const files = useFiles(assistant.assistant_id)
  const input = useRef<HTMLInputElement>(null)
  const ready = files.data?.files.filter(({ metadata }) => metadata.status === 'ready').length ?? 0
  const description = assistant.config[configKey.description]
  return (
    <div className="hero">
      <span className="avatar avatar-large" aria-hidden="true">
        <Bot size={26} />
      </span>
      <h2>{t.helloTitle(assistant.name)}</h2>
      <p>{description || t.helloText}</p>
      {ready > 0 && <p className="small">{t.filesReady(ready)}</p>}
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          if (event.target.files) void upload(assistant.assistant_id, event.target.files)
        }}
      />
      <div className="suggestions">
        <button type="button" className="suggestion" onClick={() => input.current?.click()}>
          <FileText size={18} aria-hidden="true" />
          <strong>{t.suggestFiles}</strong>
          <span className="small muted">{t.suggestFilesText}</span>
        </button>
        <button type="button" className="suggestion" onClick={() => onSend(t.suggestHelloText)}>
          <Hand size={18} aria-hidden="true" />
          <strong>{t.suggestHello}</strong>
          <span className="small muted">{t.suggestHelloText}</span>
        </button>
        <Link
          to="/console/assistants/$assistantId"
          params={{ assistantId: assistant.assistant_id }}
          className="suggestion"
        >
          <SlidersHorizontal size={18} aria-hidden="true" />
          <strong>{t.suggestAssistant}</strong>
          <span className="small muted">{t.suggestAssistantText}</span>
        </Link>
      </div>
    </div>
  )
}

export function Chat() {
  const { threadId } = useParams({ from: '/console/chat/$threadId' })
  return <Conversation key={threadId} threadId={threadId} />
}

function Conversation({ threadId }: { threadId: string }) {
  const path = { params: { path: { tid: threadId } } }
  const thread = useQuery({ queryKey: keys.thread(threadId), queryFn: () => unwrap(api.GET('/threads/{tid}', path)) })
  const state = useQuery({
    queryKey: keys.state(threadId),
    queryFn: () => unwrap(api.GET('/threads/{tid}/state', path)),
  })
  const runs = useQuery({
    queryKey: keys.runs(threadId),
    queryFn: () =>
      unwrap(api.GET('/threads/{tid}/runs', { params: { path: { tid: threadId }, query: { limit: 100 } } })),
  })
  const assistants = useAssistants()
  const sent = useSentMessages(threadId)
  const followedOf = useFollowed()
  const navigate = useNavigate()
  const [edited, setEdited] = useState<number>()
  useTitle(thread.data?.name || t.untitled)

  const runList = runs.data?.runs ?? noRuns
  useEffect(() => {
    for (const run of runList) if (run.status === 'pending' || run.status === 'running') follow(run.run_id, threadId)
  }, [runList, threadId])

  const stored = state.data?.values.messages ?? noMessages
  useEffect(() => {
    // The thread itself contains the message when its run has ended.
    const known = new Set(stored.map(({ data }) => data.id))
    const over = sent.filter(
      ({ id, runId }) => known.has(id) && runId !== undefined && !isGoingOn(undefined, followedOf(runId)),
    )
    if (over.length > 20)
      removeSent(
        threadId,
        over.slice(0, -20).map(({ id }) => id),
      )
  }, [stored, sent, threadId, followedOf])

  const turns = turnsOf({ stored, runs: runList, sent, followedOf })
  const current = runList.findLast(({ run_id: id, status }) =>
    followedOf(id) ? !followedOf(id)?.isOver : status === 'running' || status === 'pending',
  )
  const assistantId = thread.data?.assistant_id ?? runList[0]?.assistant_id ?? assistants.data?.[0]?.assistant_id
  const assistant = assistants.data?.find(({ assistant_id: id }) => id === assistantId)

  const attempt = async (action: () => Promise<unknown>): Promise<boolean> => {
    try {
      await action()
      return true
    } catch (error) {
      say(wordsOf(error, texts.offline), 'danger')
      return false
    }
  }
  const send = (content: string, messageId?: string) =>
    attempt(async () => {
      if (assistantId === undefined) throw new Error(t.noAssistantsText)
      const isFirst = turns.length === 0
      await sendMessage({ threadId, assistantId, content, messageId })
      if (isFirst && (thread.data?.name === '' || thread.data?.name === 'main'))
        await unwrap(api.PUT('/threads/{tid}', { ...path, body: { name: nameOf(content) } }))
    })
  const stop = () =>
    void attempt(async () => {
      if (current) await unwrap(api.POST('/runs/{run_id}/cancel', { params: { path: { run_id: current.run_id } } }))
      await queryClient.invalidateQueries({ queryKey: keys.runs(threadId) })
    })
  const branch = async (turn: number, content: string) => {
    if (assistantId === undefined) return
    const before = messagesBefore(stored, turns[turn])
    const id = await newThread(t.branchName(thread.data?.name || t.untitled), assistantId, before)
    await sendMessage({ threadId: id, assistantId, content })
    await navigate({ to: '/console/chat/$threadId', params: { threadId: id } })
  }

  const problem = thread.error ?? state.error ?? runs.error
  const omitted = state.data?.metadata.omitted_messages ?? 0
  return (
    <div className="chat">
      <header className="chat-head">
        <h1 className="grow truncate">{thread.data ? thread.data.name || t.untitled : texts.loading}</h1>
        {assistant && (
          <Link
            to="/console/assistants/$assistantId"
            params={{ assistantId: assistant.assistant_id }}
            className="badge badge-accent"
          >
            <Bot size={13} aria-hidden="true" />
            {assistant.name}
          </Link>
        )}
      </header>
      <ScrollToEnd watch={turns}>
        <div className="chat-column">
          {problem && (
            <Problem
              error={problem}
              onRetry={() => void Promise.all([thread, state, runs].map((query) => query.refetch()))}
            />
          )}
          {state.isPending && <Skeleton lines={6} />}
          {omitted > 0 && <Notice>{t.older(omitted)}</Notice>}
          {state.data && turns.length === 0 && assistant && (
            <Hello assistant={assistant} onSend={(text) => void send(text)} />
          )}
          {turns.map((turn, place) => (
            <Turn
              key={turn.human?.data.id ?? `start-${place}`}
              turn={turn}
              followed={turn.run && followedOf(turn.run.run_id)}
              onEdit={() => setEdited(place)}
              onRetry={() => turn.human && void send(turn.human.data.content, turn.human.data.id)}
              onRegenerate={() => turn.human && void attempt(() => branch(place, turn.human?.data.content ?? ''))}
            />
          ))}
        </div>
      </ScrollToEnd>
      <Announcement turns={turns} isBusy={current !== undefined} />
      <Composer assistantId={assistantId} isBusy={current !== undefined} onSend={(text) => send(text)} onStop={stop} />
      {edited !== undefined && (
        <EditDialog
          text={turns[edited]?.human?.data.content ?? ''}
          onBranch={(text) => branch(edited, text)}
          onClose={() => setEdited(undefined)}
        />
      )}
    </div>
  )
}

function messagesBefore(stored: Message[], turn: TurnData | undefined): Message[] {
  const place = stored.findIndex(({ data }) => data.id === turn?.human?.data.id)
  return place < 0 ? stored : stored.slice(0, place)
}

/** Announces to screen readers that an answer is complete, and reads it. */
function Announcement({ turns, isBusy }: { turns: TurnData[]; isBusy: boolean }) {
  const wasBusy = useRef(false)
  const [words, setWords] = useState('')
  useEffect(() => {
    if (isBusy && !wasBusy.current) setWords(t.thinking)
    if (!isBusy && wasBusy.current) {
      const last = turns.at(-1)
      const isFailed = last?.run?.status === 'error'
      setWords(
        isFailed ? t.answerFailed : `${t.answerReady} ${last?.answers.at(-1)?.data.content.slice(0, 1000) ?? ''}`,
      )
    }
    wasBusy.current = isBusy
  }, [isBusy, turns])
  return (
    <div className="visually-hidden" role="status" aria-live="polite">
      {words}
    </div>
  )
}

/** Scrolls to the newest message, unless the reader has scrolled up. */
function ScrollToEnd({ watch, children }: { watch: unknown; children: React.ReactNode }) {
  const box = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  useEffect(() => {
    const element = box.current
    if (element && isAtEnd.current) element.scrollTop = element.scrollHeight
  }, [watch])
  return (
    <div
      className="chat-scroll"
      ref={box}
      tabIndex={0}
      role="region"
      aria-label={t.messages}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 80
      }}
    >
      {children}
    </div>
  )
}

interface EditProps {
  text: string
  onBranch: (text: string) => Promise<void>
  onClose: () => void
}

function EditDialog({ text, onBranch, onClose }: EditProps) {
  const [value, setValue] = useState(text)
  const form = useSubmit(() => onBranch(value.trim()))
  return (
    <Dialog title={t.editTitle} onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        <p className="muted small">{t.editText}</p>
        {form.problem && <Notice tone="danger">{form.problem}</Notice>}
        <TextArea label={t.message} rows={6} value={value} onValue={setValue} autoFocus />
        <div className="row row-end">
          <Button onClick={onClose}>{texts.cancel}</Button>
          <Button type="submit" look="primary" busy={form.isBusy} disabled={value.trim() === ''}>
            {t.branch}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
