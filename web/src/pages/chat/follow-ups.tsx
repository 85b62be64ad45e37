import '../../styles/follow-ups.css'
import { CornerDownRight } from 'lucide-react'
import { useEffect } from 'react'
import { type Run, type Thread, api, keys, queryClient, unwrap, useConsoleSettings } from '../../lib/api.ts'
import { startMessages } from '../../texts/starts.ts'

/** When the service is asked again whether there are suggestions, in milliseconds after the end of the run. */
const looksMs = [500, 1000, 1500, 2000, 3000, 5000, 8000, 15_000]
/** Suggestions to an answer that is older are there, or do not come. */
const freshMs = 60_000

interface FollowUpsProps {
  thread: Thread | undefined
  lastRun: Run | undefined
  /** The last answer got too long for the model. */
  isCut: boolean
  isBusy: boolean
  onSend: (text: string) => void
}

/** What may be asked after the last answer, each sent with one click. */
export default function FollowUps({ thread, lastRun, isCut, isBusy, onSend }: FollowUpsProps) {
  useSuggestions(thread?.thread_id, lastRun, isBusy)
  const questions = isCut ? [startMessages.goOn] : (thread?.follow_ups ?? [])
  if (isBusy || questions.length === 0 || lastRun?.status !== 'success') return undefined
  return (
    <ul className="follow-ups" aria-label={startMessages.followUps}>
      {questions.map((question) => (
        <li key={question}>
          <button type="button" className="starter" onClick={() => onSend(question)}>
            <CornerDownRight size={15} aria-hidden="true" />
            <span dir="auto">{question}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}

/** Waits for what the service suggests after a run, and for the name that it gives the chat. */
function useSuggestions(threadId: string | undefined, lastRun: Run | undefined, isBusy: boolean): void {
  const suggests = useConsoleSettings()?.suggests === true
  const runId = lastRun?.run_id
  const endedAt = Date.parse(lastRun?.finished_at ?? '')
  const isFresh = lastRun?.status === 'success' && Date.now() - endedAt < freshMs
  useEffect(() => {
    if (threadId === undefined || !isBusy) return
    // Those of the answer before.
    queryClient.setQueryData<Thread>(keys.thread(threadId), (known) => known && { ...known, follow_ups: [] })
  }, [threadId, isBusy])
  useEffect(() => {
    if (threadId === undefined || runId === undefined || !suggests || isBusy || !isFresh) return
    const leave = new AbortController()
    void lookFor(threadId, leave.signal)
    return () => leave.abort()
    // An answer does not become fresh again.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [threadId, runId, suggests, isBusy, lastRun?.status])
}

async function lookFor(threadId: string, signal: AbortSignal): Promise<void> {
  for (const pauseMs of looksMs) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    if (signal.aborted) return
    try {
      const path = { params: { path: { tid: threadId } }, signal }
      const now = await unwrap(api.GET('/threads/{tid}', path))
      const before = queryClient.getQueryData<Thread>(keys.thread(threadId))
      queryClient.setQueryData(keys.thread(threadId), now)
      if (before?.name !== now.name) void queryClient.invalidateQueries({ queryKey: keys.threads })
      if (now.follow_ups.length > 0) return
    } catch {
      // The next look may succeed; without any, nothing is suggested.
    }
  }
}
