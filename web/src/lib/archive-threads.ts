import { texts } from '../texts/index.ts'
import { api, keys, queryClient, unwrap, wordsOf } from './api.ts'
import { say } from './toasts.ts'

const undoMs = 10_000
/** Requests under way at once. */
const atOnce = 4

/** Puts chats aside, or takes them back, with an undo. */
export async function archive(ids: string[], archived: boolean): Promise<void> {
  const failure = await setAll(ids, archived)
  if (failure !== undefined) return say(wordsOf(failure, texts.offline), 'danger')
  say((archived ? texts.nav.archivedNow : texts.nav.unarchivedNow)(ids.length), 'plain', {
    label: texts.nav.undo,
    run: () =>
      void setAll(ids, !archived).then(
        (problem) => problem !== undefined && say(wordsOf(problem, texts.offline), 'danger'),
      ),
    ms: undoMs,
  })
}

/** Returns the first failure. */
async function setAll(ids: string[], archived: boolean): Promise<unknown> {
  const left = [...ids]
  const failures: unknown[] = []
  const work = async () => {
    for (let tid = left.shift(); tid !== undefined; tid = left.shift())
      await unwrap(api.PUT('/threads/{tid}', { params: { path: { tid } }, body: { archived } })).catch(
        (error: unknown) => failures.push(error),
      )
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  await Promise.all(
    [keys.threads, ...ids.map((id) => keys.thread(id))].map((queryKey) => queryClient.invalidateQueries({ queryKey })),
  )
  return failures[0]
}
