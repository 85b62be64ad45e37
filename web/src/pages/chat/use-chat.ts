import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import {
  type Message,
  type Run,
  type Schemas,
  api,
  keys,
  queryClient,
  unwrap,
  useAssistants,
  wordsOf,
} from '../../lib/api.ts'
import { chosenFor, useChosenFor } from '../../lib/chat-model.ts'
import { type Turn, turnKeeper, turnsOf } from '../../lib/conversation.ts'
import type { Addressed } from '../../lib/mentions.ts'
import { follow, useFollowed } from '../../lib/run-followers.ts'
import { nameOf, newThread, sendMessage } from '../../lib/send-message.ts'
import { removeSent, useSentMessages } from '../../lib/sent-messages.ts'
import { useTakenRuns } from '../../lib/taken-runs.ts'
import { say } from '../../lib/toasts.ts'
import { texts } from '../../texts/index.ts'
import { isGoingOn } from './turn-parts.ts'

const t = texts.chat
const noRuns: Run[] = []
const noMessages: Message[] = []
const noAuthors: Schemas['Maker'][] = []
/** How often a chat that others continue is read again. */
const sharedEveryMs = 10_000

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

/** A run that was stopped is counted soon after its readers were told. */
const countedMs = 1000
const givenUpMs = 15_000

/** How often the runs are read again, until those that were stopped before the reader's eyes have their tokens. */
function useUncounted() {
  const followedOf = useFollowed()
  const [since] = useState(() => new Map<string, number>())
  const isUncounted = ({ run_id: id, status, started_at: begun, usage }: Run) => {
    if (status !== 'cancelled' || !begun || usage || followedOf(id) === undefined) return false
    const first = since.get(id) ?? performance.now()
    since.set(id, first)
    return performance.now() - first < givenUpMs
  }
  return (runs: Run[] = []) => runs.some(isUncounted) && countedMs
}

/** What is known of a chat: its thread with all versions, its runs, and who answers. */
function useChatData(threadId: string) {
  const path = { params: { path: { tid: threadId } } }
  const thread = useQuery({ queryKey: keys.thread(threadId), queryFn: () => unwrap(api.GET('/threads/{tid}', path)) })
  const refetchInterval = thread.data?.visibility === 'project' && sharedEveryMs
  const state = useQuery({
    queryKey: keys.state(threadId),
    refetchInterval,
    queryFn: () =>
      unwrap(api.GET('/threads/{tid}/state', { params: { path: { tid: threadId }, query: { versions: 'all' } } })),
  })
  const uncounted = useUncounted()
  const runs = useQuery({
    queryKey: keys.runs(threadId),
    refetchInterval: (query) => uncounted(query.state.data?.runs) || refetchInterval,
    queryFn: () =>
      unwrap(api.GET('/threads/{tid}/runs', { params: { path: { tid: threadId }, query: { limit: 100 } } })),
  })
  const assistants = useAssistants()
  const assistantId = assistantIdOf(thread, runs, assistants)
  return {
    thread,
    state,
    runs,
    assistants,
    assistantId,
    assistant: assistants.data?.find(({ assistant_id: id }) => id === assistantId),
    authors: state.data?.authors ?? noAuthors,
    stored: state.data?.values.messages ?? noMessages,
    runList: runs.data?.runs ?? noRuns,
    takenRuns: useTakenRuns(state.data?.values.messages ?? noMessages),
    /** Somebody may be quicker than the first answers of the service. */
    loadedAssistantId: async () => {
      const begun = { cancelRefetch: false }
      return assistantIdOf(
        ...(await Promise.all([thread.refetch(begun), runs.refetch(begun), assistants.refetch(begun)])),
      )
    },
  }
}

/** A chat as it is shown, and what can be done with it. */
export function useChat(threadId: string) {
  const data = useChatData(threadId)
  const { thread, stored, runList, takenRuns, assistantId } = data
  const sent = useSentMessages(threadId)
  const followedOf = useFollowed()
  /** The end of the version that is shown, if that is not the newest. */
  const [last, setLast] = useState<string>()

  useEffect(() => {
    for (const run of runList) if (run.status === 'pending' || run.status === 'running') follow(run.run_id, threadId)
  }, [runList, threadId])

  useEffect(() => {
    // The thread itself contains the message when its run has ended.
    const known = new Set(stored.map(({ data: { id } }) => id))
    const over = sent.filter(
      ({ id, runId }) => known.has(id) && runId !== undefined && !isGoingOn(undefined, followedOf(runId)),
    )
    if (over.length > 20)
      removeSent(
        threadId,
        over.slice(0, -20).map(({ id }) => id),
      )
  }, [stored, sent, threadId, followedOf])

  const made = turnsOf({ stored, runs: [...runList, ...takenRuns], sent, followedOf, last })
  const { endOf, end } = made
  const sides = useChosenFor('sides', threadId)
  const [keep] = useState(turnKeeper)
  const turns = keep(made.turns)
  const current = runList.findLast(({ run_id: id, status }) =>
    followedOf(id) ? !followedOf(id)?.isOver : status === 'running' || status === 'pending',
  )

  const sendTo = async (
    content: string,
    place: {
      messageId?: string
      after?: string | null
      pictures?: string[]
      model?: string | undefined
    } & Addressed = {},
  ) => {
    const answering = assistantId ?? (await data.loadedAssistantId())
    if (answering === undefined) throw new Error(t.noAssistantsText)
    const isFirst = turns.length === 0
    // What is written under an earlier version continues that version.
    const message = { threadId, assistantId: answering, content, after: last, ...place }
    setLast(undefined)
    const isBeside = place.after === undefined && place.messageId === undefined && current === undefined
    if (isBeside && (sides || chosenFor('beside', threadId)))
      await (await import('../../lib/beside.ts')).sendBeside({ ...message, end })
    else await sendMessage(message)
    if (isFirst && (thread.data?.name === '' || thread.data?.name === 'main'))
      await unwrap(
        api.PUT('/threads/{tid}', {
          params: { path: { tid: threadId } },
          body: { name: nameOf(content) || texts.chat.pictures.title, provisional_name: true },
        }),
      )
  }
  return {
    ...data,
    turns,
    /** How many characters were said so far, in all versions. */
    said: made.messages.reduce((sum, { data: { content } }) => sum + content.length, made.messages.length),
    followedOf,
    /** The answers of a second model that stand beside those of the chat, as JSON. */
    sides,
    /** The run that is under way. */
    current,
    /** Resolves to whether the message was accepted. */
    send: (content: string, pictures: string[] = [], addressed: Addressed = {}) =>
      attempt(() => sendTo(content, { pictures, ...addressed })),
    /** Sends a changed question as a new version of it. */
    sendVersion: async (turn: Turn, content: string) =>
      sendTo(content, { after: turn.versions.after, pictures: await picturesIn(threadId, turn) }),
    /** Has the question answered once more, also by another model. */
    retry: (turn: Turn, model?: string) => {
      const { human, answers, versions } = turn
      if (!human) return
      const { id, content } = human.data
      // The newest question, as long as it has no answer, needs no second version.
      const place = answers.length === 0 && turn === turns.at(-1) ? { messageId: id } : { after: versions.after }
      void attempt(async () => sendTo(content, { ...place, model, pictures: await picturesIn(threadId, turn) }))
    },
    showVersion: (questionId: string) => setLast(endOf(questionId)),
    stop: () =>
      void attempt(async () => {
        if (current) await unwrap(api.POST('/runs/{run_id}/cancel', { params: { path: { run_id: current.run_id } } }))
        await queryClient.invalidateQueries({ queryKey: keys.runs(threadId) })
      }),
    branch: useBranch(threadId, turns, assistantId),
  }
}

/** Begins another chat with what was said before a question. */
function useBranch(threadId: string, turns: Turn[], assistantId: string | undefined) {
  const navigate = useNavigate()
  return async (turn: Turn, content: string): Promise<void> => {
    if (assistantId === undefined) return
    const place = turns.findIndex(({ human }) => human?.data.id === turn.human?.data.id)
    const before = turns.slice(0, place).flatMap(messagesOf)
    const id = await newThread(nameOf(content), assistantId, before)
    await sendMessage({ threadId: id, assistantId, content, pictures: await picturesIn(threadId, turn) })
    await navigate({ to: '/console/chat/$threadId', params: { threadId: id } })
  }
}

/** The pictures of a question, to send them again. */
async function picturesIn(threadId: string, { human }: Turn): Promise<string[]> {
  if (human === undefined) return []
  const { picturesOf } = await import('../../lib/message-pictures.ts')
  return picturesOf(threadId, human)
}

/** A question, its answers, and what the tools said that they called, in order. */
function messagesOf({ human, answers, results }: Turn): Message[] {
  const said = answers.flatMap((answer): Message[] => [
    answer,
    ...(answer.data.tool_calls ?? []).flatMap((call) => results.get(call) ?? []),
  ])
  if (human === undefined) return said
  const { after: _, author_id: _author, ...data } = human.data
  return [{ type: 'HumanMessage', data }, ...said]
}

async function attempt(action: () => Promise<unknown>): Promise<boolean> {
  try {
    await action()
    return true
  } catch (error) {
    say(wordsOf(error, texts.offline), 'danger')
    return false
  }
}
