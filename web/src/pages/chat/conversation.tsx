import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { Bot } from 'lucide-react'
import { useEffect, useState } from 'react'
import { type Message, type Run, api, keys, queryClient, unwrap, useAssistants, wordsOf } from '../../lib/api.ts'
import { type Turn as TurnData, turnsOf } from '../../lib/conversation.ts'
import { follow, useFollowed } from '../../lib/run-followers.ts'
import { nameOf, newThread, sendMessage } from '../../lib/send-message.ts'
import { removeSent, useSentMessages } from '../../lib/sent-messages.ts'
import { say } from '../../lib/toasts.ts'
import { useTitle } from '../../lib/use-title.ts'
import { texts } from '../../texts/index.ts'
import { Notice } from '../../ui/notice.tsx'
import { Problem, Skeleton } from '../../ui/states.tsx'
import { Announcement } from './announcement.tsx'
import { ChatModel } from './chat-model.tsx'
import { Composer } from './composer.tsx'
import { EditDialog } from './edit-dialog.tsx'
import { Hello } from './hello.tsx'
import { ScrollToEnd } from './scroll-to-end.tsx'
import { Turn, isGoingOn } from './turn.tsx'

const t = texts.chat
const noRuns: Run[] = []
const noMessages: Message[] = []

export function Chat() {
  const { threadId } = useParams({ from: '/console/chat/$threadId' })
  return <Conversation key={threadId} threadId={threadId} />
}

interface WithAssistant {
  assistant_id?: string | null | undefined
}

/** The assistant that answers: the thread's own, that of its runs, or the first of all. */
function assistantIdOf(
  thread: { data: WithAssistant | undefined },
  runs: { data: { runs: WithAssistant[] } | undefined },
  assistants: { data: WithAssistant[] | undefined },
): string | undefined {
  const own = thread.data?.assistant_id ?? runs.data?.runs[0]?.assistant_id
  // Only when it is known that the thread has none.
  const first = thread.data && runs.data ? assistants.data?.[0]?.assistant_id : undefined
  return own ?? first ?? undefined
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
  const assistantId = assistantIdOf(thread, runs, assistants)
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
  /** Somebody may be quicker than the first answers of the service. */
  const loadedAssistantId = async () => {
    const begun = { cancelRefetch: false }
    return assistantIdOf(
      ...(await Promise.all([thread.refetch(begun), runs.refetch(begun), assistants.refetch(begun)])),
    )
  }
  const send = (content: string, messageId?: string) =>
    attempt(async () => {
      const answering = assistantId ?? (await loadedAssistantId())
      if (answering === undefined) throw new Error(t.noAssistantsText)
      const isFirst = turns.length === 0
      await sendMessage({ threadId, assistantId: answering, content, messageId })
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
          {turns.map((turn, index) => (
            <Turn
              key={turn.human?.data.id ?? `start-${index}`}
              turn={turn}
              followed={turn.run && followedOf(turn.run.run_id)}
              onEdit={() => setEdited(index)}
              onRetry={() => turn.human && void send(turn.human.data.content, turn.human.data.id)}
              onRegenerate={() => turn.human && void attempt(() => branch(index, turn.human?.data.content ?? ''))}
            />
          ))}
        </div>
      </ScrollToEnd>
      <Announcement turns={turns} isBusy={current !== undefined} />
      <Composer
        chat={threadId}
        assistantId={assistantId}
        isBusy={current !== undefined}
        onSend={(text) => send(text)}
        onStop={stop}
      >
        <ChatModel chat={threadId} />
      </Composer>
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
  const index = stored.findIndex(({ data }) => data.id === turn?.human?.data.id)
  return index < 0 ? stored : stored.slice(0, index)
}
