import { foldMessages } from '../../../client/src/index.ts'
import type { Message, Run } from './api.ts'
import { type Passage, parsePassages } from './passages.ts'
import type { Followed } from './run-followers.ts'
import type { SentMessage } from './sent-messages.ts'
import { getSession } from './session.ts'
import { type Versions, readVersions } from './versions.ts'

export type AIMessage = Extract<Message, { type: 'AIMessage' }>
export type HumanMessage = Extract<Message, { type: 'HumanMessage' }>
export type ToolMessage = Extract<Message, { type: 'ToolMessage' }>
type ToolCall = NonNullable<AIMessage['data']['tool_calls']>[number]

/** A question with everything that followed it until the next one. */
export interface Turn {
  human: HumanMessage | undefined
  answers: AIMessage[]
  /** By the call itself: models use the same id for calls of several answers. */
  results: Map<ToolCall, ToolMessage>
  run: Run | undefined
  /** Whether the question was sent and its run waits for its turn. */
  isWaiting: boolean
  /** The versions of the question, this one included. */
  versions: Versions
}

interface Parts {
  /** All versions of the conversation. */
  stored: Message[]
  /** Newest first, as the service lists them. */
  runs: Run[]
  sent: SentMessage[]
  followedOf: (runId: string) => Followed | undefined
  /** The last message of the version that is shown, if that is not the newest. */
  last: string | undefined
}

/**
 * The messages of a thread, together with the streams of its open runs and messages that wait to be sent. Also returns
 * where each version ends.
 */
export function turnsOf({ stored, runs, sent, followedOf, last }: Parts) {
  const known = new Set(stored.map(({ data }) => data.id))
  let messages = stored
  const waiting = new Set<string>()
  for (const run of runs.toReversed()) {
    const followed = followedOf(run.run_id)
    const human = sent.find(({ runId }) => runId === run.run_id)
    if (human && !known.has(human.id)) {
      messages = [...messages, humanMessage(human)]
      if (run.status === 'pending' && !followed?.snapshot?.messages.length) waiting.add(human.id)
    }
    const said = followed?.snapshot?.messages ?? []
    // Stored messages are final; a stream that has ended only adds to them.
    const added = followed?.isOver ? said.filter(({ data }) => !known.has(data.id)) : said
    if (added.length > 0) messages = foldMessages(messages, added)
  }
  for (const message of sent) {
    if (message.runId === undefined && !known.has(message.id)) messages = [...messages, humanMessage(message)]
  }
  const versions = readVersions(messages, last)
  const turns = grouped(versions, runs, sent, waiting)
  // A run without an answer leaves no message with its id: the newest one belongs to the last question.
  giveFailedRuns(turns, runs, messages)
  const end = turns.at(-1)
  if (end && !end.run && end.answers.length === 0 && last === undefined) end.run = runs[0]
  return { turns, messages, endOf: versions.endOf, end: versions.line.at(-1)?.data.id ?? null }
}

/** Characters of the id of a run, with which the ids of its answers begin. */
const runIdLength = 36

/**
 * A run that failed before it answered leaves no message with its id. Runs are in the order of their ids, so it belongs to
 * the question without an answer that stands between the answers of runs before and after it.
 */
function giveFailedRuns(turns: Turn[], runs: Run[], messages: Message[]): void {
  const known = new Set(messages.map(({ data: { id } }) => id.slice(0, runIdLength)))
  for (const { run } of turns) if (run) known.add(run.run_id)
  const failed = runs.filter(({ run_id: id, error, parent_run_id: parent }) => error && !parent && !known.has(id))
  if (failed.length === 0) return
  let before: string | undefined
  for (const [place, turn] of [...turns.entries()].toReversed()) {
    if (turn.run === undefined && turn.answers.length === 0 && turn.human !== undefined && !turn.isWaiting) {
      const after = turns.slice(0, place).findLast(({ run }) => run !== undefined)?.run?.run_id ?? ''
      turn.run = failed.find(({ run_id: id }) => id > after && (before === undefined || id < before))
    }
    before = turn.run?.run_id ?? before
  }
}

function grouped(
  versions: ReturnType<typeof readVersions>,
  runs: Run[],
  sent: SentMessage[],
  waiting: Set<string>,
): Turn[] {
  const turns: Turn[] = []
  const newTurn = (human?: HumanMessage) => {
    const turn: Turn = {
      human,
      answers: [],
      results: new Map(),
      run: undefined,
      isWaiting: human !== undefined && waiting.has(human.data.id),
      versions: human === undefined ? { ids: [], after: null } : versions.of(human.data.id),
    }
    turns.push(turn)
    return turn
  }
  for (const message of versions.line) {
    switch (message.type) {
      case 'HumanMessage':
        newTurn(message)
        break
      case 'AIMessage':
        ;(turns.at(-1) ?? newTurn()).answers.push(message)
        break
      case 'ToolMessage':
        addResult(turns.at(-1) ?? newTurn(), message)
        break
      case 'SystemMessage':
        break
    }
  }
  for (const turn of turns) {
    const said = turn.answers.at(-1)?.data.id
    const sentAs = sent.find(({ id }) => id === turn.human?.data.id)?.runId
    turn.run = runs.find(({ run_id: id }) => said?.startsWith(`${id}-`) || id === sentAs)
  }
  return turns
}

/** A result belongs to the nearest answer before it that has a call with its id and without a result. */
function addResult({ answers, results }: Turn, message: ToolMessage): void {
  const isIts = (call: ToolCall) => call.id === message.data.tool_call_id && !results.has(call)
  const answer = answers.findLast(({ data }) => data.tool_calls?.some(isIts))
  const call = answer?.data.tool_calls?.find(isIts)
  if (call !== undefined) results.set(call, message)
}

/** Gives the turns of a chat, each the same object as the last time if nothing in it has changed. */
export function turnKeeper(): (turns: Turn[]) => Turn[] {
  let before: Turn[] = []
  return (turns) => {
    const kept = turns.map((turn, place) => {
      const earlier = before[place]
      return earlier !== undefined && isSame(turn, earlier) ? earlier : turn
    })
    const isAsBefore = kept.length === before.length && kept.every((turn, place) => turn === before[place])
    return isAsBefore ? before : (before = kept)
  }
}

function isSame(a: Turn, b: Turn): boolean {
  return (
    a.human === b.human &&
    a.run === b.run &&
    a.isWaiting === b.isWaiting &&
    a.answers.length === b.answers.length &&
    a.answers.every((answer, place) => answer === b.answers[place]) &&
    a.results.size === b.results.size &&
    [...a.results].every(([call, result]) => b.results.get(call) === result) &&
    a.versions.after === b.versions.after &&
    a.versions.ids.length === b.versions.ids.length &&
    a.versions.ids.every((id, place) => id === b.versions.ids[place])
  )
}

/** What an answer says: its text, or why the model does not answer. */
export function textOfAnswer({ data: { content, refusal = '' } }: AIMessage): string {
  return content === '' ? refusal : content
}

function humanMessage({ id, content, after }: SentMessage): HumanMessage {
  const author = getSession()?.userId
  return {
    type: 'HumanMessage',
    data: {
      id,
      content,
      ...(author === undefined ? {} : { author_id: author }),
      ...(after === undefined ? {} : { after }),
    },
  }
}

/** Messages stay the same objects from one picture of the chat to the next. */
const parsed = new WeakMap<ToolMessage, Passage[]>()

function passagesIn(message: ToolMessage): Passage[] {
  const passages = parsed.get(message) ?? parsePassages(message.data.content)
  parsed.set(message, passages)
  return passages
}

/** The passages that a turn's searches found, without duplicates, best first. */
export function passagesOf(turn: Turn): Passage[] {
  const passages = [...turn.results.values()].flatMap(passagesIn)
  const unique = new Map(passages.map((passage) => [`${passage.file_name}\n${passage.text}`, passage]))
  return [...unique.values()].toSorted((a, b) => b.score - a.score)
}
