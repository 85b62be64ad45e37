import type { Usage } from '../../../domain/records/run.ts'
import { sumUsage } from '../../../domain/sum-usage.ts'
import type { RunRecord } from '../../../domain/records/run.ts'
import type { RunView } from '../../../domain/run-events.ts'
import { createTextProgress } from '../../../domain/text-progress.ts'
import type { ChatCompletion } from './chat-schemas.ts'

/** Separates the texts of two steps of one run, which a client of this API sees as one answer. */
const betweenSteps = '\n\n'

export interface CompletionOptions {
  run: RunRecord
  /** The model name in the request. */
  model: string
}

/** The new text of a run's answer. `undefined`: the answer contradicts what was sent. */
export function createCompletionText() {
  const progress = createTextProgress()
  let begun = ''
  return (view: RunView): string | undefined => {
    let added = ''
    for (const folded of view.messages.values()) {
      const { delta, contradicted } = progress.advance(folded)
      if (contradicted) return undefined
      if (delta === '') continue
      if (begun !== '' && begun !== folded.id) added += betweenSteps
      begun = folded.id
      added += delta
    }
    return added
  }
}

/** The answer of a run that has ended. */
export function chatCompletion(options: CompletionOptions, view: RunView): ChatCompletion {
  const usage = usageOf(view)
  return {
    ...head(options),
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: createCompletionText()(view) ?? '', refusal: null },
        logprobs: null,
        finish_reason: finishReasonOf(view),
      },
    ],
    ...(usage ? { usage } : {}),
  }
}

/** Chunks of a streamed answer; with `includeUsage`, each has `usage: null`, as the API requires. */
export function completionChunks(options: CompletionOptions, includeUsage: boolean) {
  const later = includeUsage ? { usage: null } : {}
  const chunk = (delta: { role?: 'assistant'; content?: string }, finishReason: string | null) => ({
    ...head(options),
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
    ...later,
  })
  return {
    begin: () => chunk({ role: 'assistant', content: '' }, null),
    text: (content: string) => chunk({ content }, null),
    end: (view: RunView) => chunk({}, finishReasonOf(view)),
    usage: (usage: Usage) => ({ ...head(options), object: 'chat.completion.chunk', choices: [], usage }),
  }
}

function head({ run, model }: CompletionOptions) {
  return { id: `chatcmpl-${run._id}`, created: Math.floor(run.created_at.getTime() / 1000), model }
}

function answersOf(view: RunView) {
  return [...view.messages.values()].flatMap(({ content }) =>
    'whole' in content && content.whole.type === 'AIMessage' ? [content.whole.data] : [],
  )
}

function finishReasonOf(view: RunView): 'stop' | 'length' | 'content_filter' {
  return answersOf(view).at(-1)?.cut ?? 'stop'
}

/** Tokens of all steps, as counted by the model; undefined if it gave none. */
export function usageOf(view: RunView): Usage | undefined {
  return sumUsage(answersOf(view).flatMap(({ usage }) => usage ?? []))
}
