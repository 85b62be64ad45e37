import { foldMessages } from '../../../client/src/index.ts'
import type { Message, Run } from './api.ts'
import type { Followed } from './run-followers.ts'
import { type Passage, parsePassages } from './passages.ts'
import type { SentMessage } from './sent-messages.ts'

export type AIMessage = Extract<Message, { type: 'AIMessage' }>
export type HumanMessage = Extract<Message, { type: 'HumanMessage' }>
export type ToolMessage = Extract<Message, { type: 'ToolMessage' }>

/** A question with everything that followed it until the next one. */
export interface Turn {
  human: HumanMessage | undefined
  answers: AIMessage[]
  results: Map<string, ToolMessage>
  run: Run | undefined
  /** Whether the question was sent and its run waits for its turn. */
  isWaiting: boolean
}

interface Parts {
  stored: Message[]
  /** Newest first, as the service lists them. */
  runs: Run[]
  sent: SentMessage[]
  followedOf: (runId: string) => Followed | undefined
}

/** The messages of a thread, together with the streams of its open runs and messages that wait to be sent. */
export function turnsOf({ stored, runs, sent, followedOf }: Parts): Turn[] {
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
    messages = foldMessages(messages, followed?.isOver ? said.filter(({ data }) => !known.has(data.id)) : said)
  }
  for (const message of sent) {
    if (message.runId === undefined && !known.has(message.id)) messages = [...messages, humanMessage(message)]
  }
  return grouped(messages, runs, sent, waiting)
}

function grouped(messages: Message[], runs: Run[], sent: SentMessage[], waiting: Set<string>): Turn[] {
  const turns: Turn[] = []
  const newTurn = (human?: HumanMessage) => {
    const turn: Turn = {
      human,
      answers: [],
      results: new Map(),
      run: undefined,
      isWaiting: human !== undefined && waiting.has(human.data.id),
    }
    turns.push(turn)
    return turn
  }
  for (const message of messages) {
    switch (message.type) {
      case 'HumanMessage':
        newTurn(message)
        break
      case 'AIMessage':
        ;(turns.at(-1) ?? newTurn()).answers.push(message)
        break
      case 'ToolMessage':
        ;(turns.at(-1) ?? newTurn()).results.set(message.data.tool_call_id, message)
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
  // A run without an answer leaves no message with its id: the newest one belongs to the last question.
  const last = turns.at(-1)
  if (last && !last.run && last.answers.length === 0) last.run = runs[0]
  return turns
}

function humanMessage({ id, content }: SentMessage): HumanMessage {
  return { type: 'HumanMessage', data: { id, content } }
}

/** A passage that the file search gave to the model. */
/** The passages that a turn's searches found, without duplicates, best first. */
export function passagesOf(turn: Turn): Passage[] {
  const passages = [...turn.results.values()].flatMap(({ data }) => parsePassages(data.content))
  const unique = new Map(passages.map((passage) => [`${passage.file_name}\n${passage.text}`, passage]))
  return [...unique.values()].toSorted((a, b) => b.score - a.score)
}
