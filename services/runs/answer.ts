import type { AIMessage, CutReason, ToolCall } from '../../domain/messages.ts'
import type { Usage } from '../../domain/records/run.ts'
import { readJsonObject, readPartialObject } from '../../domain/partial-json.ts'
import { type RunEntry, inOrder } from '../../domain/run-events.ts'
import type { AnswerDelta } from './chat-model.ts'

export type Answer = ReturnType<typeof createAnswer>

/** A model's answer as it arrives: takes deltas, produces stream entries, and at the end the whole message. */
export function createAnswer(id: string) {
  let text = ''
  let usage: Usage | undefined
  let cut: CutReason | undefined
  /** By the numbers that the model gave the calls. */
  const calls = new Map<number, CallSoFar>()

  return {
    id,
    add(delta: AnswerDelta): RunEntry[] {
      switch (delta.type) {
        case 'text':
          text += delta.text
          return [{ type: 'text', id, text: delta.text }]
        case 'usage':
          usage = delta.usage
          return []
        case 'cut':
          cut = delta.reason
          return []
        case 'call':
          return [{ type: 'call', id, ...addToCall(delta) }]
      }
    },

    /** The answer so far, as entries that repeat it from the beginning. */
    entries(): RunEntry[] {
      return [
        { type: 'begin', id },
        ...(text === '' ? [] : [{ type: 'text' as const, id, text }]),
        ...[...calls].map(([index, call]) => ({
          type: 'call' as const,
          id,
          index,
          call_id: call.id,
          name: call.name,
          args: call.args,
        })),
      ]
    },

    message(): AIMessage {
      const toolCalls = named().map(toolCallOf)
      return {
        type: 'AIMessage',
        data: {
          id,
          content: text,
          ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
          ...(usage ? { usage } : {}),
          ...(cut ? { cut } : {}),
        },
      }
    },

    /** Positions in `tool_calls` of calls whose arguments are not a complete JSON object. */
    unreadableCalls: (): Set<number> =>
      new Set(named().flatMap((call, place) => (readJsonObject(argumentsText(call)) === undefined ? [place] : []))),
  }

  /** Adds a delta to a call; returns the entries for readers. */
  function addToCall(delta: CallDelta): { index: number; call_id?: string; name?: string; args?: string } {
    const known = calls.get(delta.index)
    const call = known ?? { id: `call_${id}_${delta.index}`, name: '', args: '' }
    const before = known && { ...known }
    calls.set(delta.index, call)
    if (delta.id) call.id = delta.id
    if (delta.name) call.name = delta.name
    call.args += delta.args ?? ''
    return {
      index: delta.index,
      ...(call.id === before?.id ? {} : { call_id: call.id }),
      ...(call.name === before?.name ? {} : { name: call.name }),
      ...(delta.args ? { args: delta.args } : {}),
    }
  }

  function named(): CallSoFar[] {
    return inOrder(calls).filter((call) => call.name !== '')
  }
}

type CallDelta = Extract<AnswerDelta, { type: 'call' }>

interface CallSoFar {
  id: string
  name: string
  args: string
}

/** A call without arguments. */
function argumentsText(call: CallSoFar): string {
  return call.args === '' ? '{}' : call.args
}

/** If arguments are not a JSON object, what can be parsed is kept; such a call is not executed. */
function toolCallOf(call: CallSoFar): ToolCall {
  return { id: call.id, name: call.name, args: readPartialObject(argumentsText(call)), type: 'tool_call' }
}
