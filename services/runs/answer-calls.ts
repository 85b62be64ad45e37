import type { ToolCall } from '../../domain/messages.ts'
import { readJsonObject, readJsonString, readPartialObject } from '../../domain/partial-json.ts'
import { inOrder } from '../../domain/run-events.ts'
import type { AnswerDelta } from './chat-model.ts'

type CallDelta = Extract<AnswerDelta, { type: 'call' }>

export interface CallSoFar {
  /** Distinct within the answer. */
  id: string
  /** The id that the model gave, if another call has it. */
  modelId?: string
  name: string
  args: string
}

/** The calls of the answer with this id, as they arrive. */
export function createAnswerCalls(answerId: string) {
  /** By the numbers that the model gave the calls. */
  const calls = new Map<number, CallSoFar>()

  /** The id that the model gives, unless another call of the answer has it: then results could not be told apart. */
  function nameCall(call: CallSoFar, id: string): void {
    const isTaken = [...calls.values()].some((other) => other !== call && other.id === id)
    if (isTaken) call.modelId = id
    else call.id = id
  }

  return {
    /** Adds a delta to a call; returns what of it is new for readers. */
    add(delta: CallDelta): { index: number; call_id?: string; name?: string; args?: string } {
      const known = calls.get(delta.index)
      const call = known ?? { id: `call_${answerId}_${delta.index}`, name: '', args: '' }
      const before = known && { ...known }
      calls.set(delta.index, call)
      if (delta.id) nameCall(call, delta.id)
      if (delta.name) call.name = delta.name
      call.args += delta.args ?? ''
      return {
        index: delta.index,
        ...(call.id === before?.id ? {} : { call_id: call.id }),
        ...(call.name === before?.name ? {} : { name: call.name }),
        ...(delta.args ? { args: delta.args } : {}),
      }
    },

    /** Each with its number. */
    all: () => [...calls],

    named: () => inOrder(calls).filter((call) => call.name !== ''),
  }
}

/** Whether the arguments are not a complete JSON object: then the call is not made. */
export function isUnreadable(call: CallSoFar): boolean {
  return readJsonObject(argumentsText(call)) === undefined
}

/** If arguments are not a JSON object, what can be parsed is kept; such a call is not executed. */
export function toolCallOf(call: CallSoFar): ToolCall {
  const { id, modelId, name } = call
  const args = readPartialObject(argumentsText(call))
  return { id, name, args, type: 'tool_call', ...(modelId === undefined ? {} : { model_id: modelId }) }
}

/** Servers write nothing or `null` for a call without arguments, and some the text of the object as a JSON text. */
function argumentsText({ args }: CallSoFar): string {
  const text = args.trim()
  if (text === '' || text === 'null') return '{}'
  return text.startsWith('"') ? (readJsonString(text) ?? args) : args
}
