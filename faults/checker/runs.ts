import { foldMessages } from '../../domain/conversation.ts'
import { isJsonObject } from '../../domain/json.ts'
import { type Message, messagesFromJson } from '../../domain/messages.ts'
import type { Intention } from '../client-log.ts'
import type { Evidence, Records, Report } from './evidence.ts'
import type { StoredRecord } from './stores.ts'

/** Each accepted run is over, its question is in its thread once, its answer once, and each effect of its tools once. */
export function checkRuns({ log, effects }: Evidence, records: Records, report: Report): void {
  const runs = (records.get('runs') ?? []).filter((run) => !wasRefused(run))
  const byToken = groupBy(runs, (run) => /\[(i\d+x)\]/.exec(String(run['input_json']))?.[1] ?? '')
  const entriesOf = groupBy(records.get('checkpoints') ?? [], (entry) => String(entry['thread_id']))
  const callsOf = groupBy(records.get('tool_calls') ?? [], (call) => String(call['run_id']))
  const conversations = new Map<string, Message[]>()
  const conversationOf = (threadId: string) => {
    const known = conversations.get(threadId)
    if (known !== undefined) return known
    const entries = (entriesOf.get(threadId) ?? []).toSorted((a, b) => Number(a['seq']) - Number(b['seq']))
    const messages = foldMessages(
      [],
      entries.flatMap((entry) => messagesFromJson(String(entry['messages_json']))),
    )
    conversations.set(threadId, messages)
    return messages
  }
  const effectsById = groupBy(effects, ({ id }) => id)
  for (const [id, calls] of effectsById) {
    const intention = log.intentions.get(id.split('.')[0] ?? '')
    if (calls.length > 1) report('doubled', `the tool was called ${calls.length} times for ${id}`, intention)
  }

  for (const intention of log.intentions.values()) {
    if (intention.kind !== 'run' && intention.kind !== 'completion') continue
    const found = byToken.get(intention.id) ?? []
    if (found.length > 1)
      report('doubled', `${found.length} runs: ${found.map((run) => String(run['_id'])).join(', ')}`, intention)
    if (intention.withdrawn) continue
    const [run] = found
    if (run === undefined) {
      if (intention.acknowledged !== undefined) report('lost', 'there is no run', intention)
      continue
    }
    checkRun(intention, run, conversationOf(String(run['thread_id'])), report)
    for (const call of callsOf.get(String(run['_id'])) ?? [])
      if (call['status'] !== 'done')
        report('wrong', `the tool call ${String(call['_id'])} is ${String(call['status'])}`, intention)
    for (const message of conversationOf(String(run['thread_id']))) {
      if (message.type !== 'ToolMessage' || !message.data.id.includes(String(run['_id']))) continue
      const effect = /done \/effect\/(\S+)/.exec(message.data.content)?.[1]
      if (effect !== undefined && effectsById.get(effect) === undefined)
        report('wrong', `a result without an effect: ${effect}`, intention)
    }
  }

  function checkRun(intention: Intention, run: StoredRecord, messages: Message[], tell: Report): void {
    const status = String(run['status'])
    const mayBeCancelled = intention.facts['cancelled'] !== undefined
    if (status !== 'success' && !(mayBeCancelled && status === 'cancelled')) {
      const error: unknown = run['error']
      tell(
        'lost',
        `the run ${String(run['_id'])} is ${status} ${isJsonObject(error) ? JSON.stringify(error) : ''}`,
        intention,
      )
      return
    }
    const questions = messages.filter(
      ({ type, data }) => type === 'HumanMessage' && data.content.includes(`[${intention.id}]`),
    )
    const answers = messages.filter(
      ({ type, data }) => type === 'AIMessage' && data.content.includes(` ${intention.id}`),
    )
    if (questions.length > 1) tell('doubled', `the question is in the thread ${questions.length} times`, intention)
    if (answers.length > 1) tell('doubled', `the answer is in the thread ${answers.length} times`, intention)
    if (status !== 'success') return
    if (questions.length === 0) tell('lost', 'the question is not in the thread', intention)
    if (answers.length === 0) tell('lost', 'the answer is not in the thread', intention)
    const expected = intention.acknowledged?.['expected']
    if (expected !== undefined && answers.length === 1 && answers[0]?.data.content !== expected)
      tell('wrong', `the answer in the thread is ${JSON.stringify(answers[0]?.data.content)}`, intention)
    const results = messages.filter(({ type, data }) => type === 'ToolMessage' && data.id.includes(String(run['_id'])))
    const calls = Number(intention.facts['calls'] ?? 0)
    if (results.length !== calls) tell('wrong', `${results.length} results of ${calls} calls`, intention)
  }
}

/** Answered with 503: the run was not acknowledged, and the client repeated the request. */
function wasRefused(run: StoredRecord): boolean {
  const error: unknown = run['error']
  return run['status'] === 'error' && isJsonObject(error) && error['type'] === 'unavailable'
}

function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const value of values) {
    const key = keyOf(value)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [value])
    else group.push(value)
  }
  return groups
}
