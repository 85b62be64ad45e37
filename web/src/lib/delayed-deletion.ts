import { texts } from '../texts/index.ts'
import { api, keys, queryClient, tokenOf, unwrap, wordsOf } from './api.ts'
import { createListeners } from './listeners.ts'
import { say } from './toasts.ts'

export const undoMs = 10_000
/** Deletions under way at once. */
const atOnce = 4

interface Waiting {
  ids: string[]
  /** Whoever logs out in the meantime has decided before. */
  token: string | undefined
  timer: ReturnType<typeof setTimeout>
}

const { notify, useRead } = createListeners()
const waiting = new Set<Waiting>()
/** Chats that are not shown: they are deleted soon, or being deleted. */
let hidden: ReadonlySet<string> = new Set()

export function useHiddenThreads(): ReadonlySet<string> {
  return useRead(() => hidden)
}

/**
 * Deletes chats after ten seconds, in which it can be undone. They are deleted at once when the page is left or closed:
 * what is gone from the list does not come back.
 */
export function deleteSoon(ids: string[]): void {
  const entry: Waiting = {
    ids,
    token: tokenOf(),
    timer: setTimeout(() => {
      if (waiting.delete(entry)) void remove(entry)
    }, undoMs),
  }
  waiting.add(entry)
  hide(ids)
  const undo = () => {
    if (!waiting.delete(entry)) return
    clearTimeout(entry.timer)
    show(ids)
  }
  say(texts.nav.deletedSoon(ids.length), 'plain', { label: texts.nav.undo, run: undo, ms: undoMs })
}

async function remove({ ids, token }: Waiting): Promise<void> {
  const failures: unknown[] = []
  const left = [...ids]
  const { removeChatFiles } = await import('./chat-files.ts')
  const work = async () => {
    for (let tid = left.shift(); tid !== undefined; tid = left.shift()) {
      try {
        await removeChatFiles(tid).catch(() => undefined)
        await unwrap(
          api.DELETE('/threads/{tid}', {
            params: { path: { tid } },
            ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
          }),
        )
      } catch (error) {
        failures.push(error)
        show([tid])
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  await queryClient.invalidateQueries({ queryKey: keys.threads })
  show(ids)
  const [first] = failures
  if (first !== undefined)
    say(texts.nav.notDeleted(failures.length, ids.length, wordsOf(first, texts.offline)), 'danger')
}

/** The page goes: the browser sends these requests without it. */
window.addEventListener('pagehide', () => {
  for (const { ids, token, timer } of waiting) {
    clearTimeout(timer)
    for (const id of ids)
      void fetch(`/threads/${encodeURIComponent(id)}`, {
        method: 'DELETE',
        keepalive: true,
        headers: { authorization: `Bearer ${token ?? ''}` },
      }).catch(() => undefined)
  }
  waiting.clear()
})

function hide(ids: string[]): void {
  set(new Set([...hidden, ...ids]))
}

function show(ids: string[]): void {
  set(new Set([...hidden].filter((id) => !ids.includes(id))))
}

function set(next: ReadonlySet<string>): void {
  hidden = next
  notify()
}
