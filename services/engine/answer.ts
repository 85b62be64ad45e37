import type { AIMessage, CutReason, ToolCall } from '../../domain/messages.ts'
import type { Usage } from '../../domain/records/run.ts'
import { type RunEntry, readableArguments } from '../../domain/run-events.ts'
import type { ModelDelta } from './chat-model.ts'

export type Answer = ReturnType<typeof createAnswer>

/** A model's answer as it grows: takes deltas, gives stream entries, and in the end the whole message. */
export function createAnswer(id: string) {
  let text = ''
  let usage: Usage | undefined
  let cut: CutReason | undefined
  const calls: { id: string; name: string; args: string }[] = []

  return {
    id,
    add(delta: ModelDelta): RunEntry[] {
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
        case 'call': {
          const call = (calls[delta.index] ??= { id: `call_${id}_${delta.index}`, name: '', args: '' })
          if (delta.id) call.id = delta.id
          if (delta.name) call.name = delta.name
          call.args += delta.args ?? ''
          return [
            {
              type: 'call',
              id,
              index: delta.index,
              call_id: call.id,
              name: call.name,
              ...(delta.args ? { args: delta.args } : {}),
            },
          ]
        }
      }
    },

    /** What was said so far, as entries that restate it from the beginning. */
    entries(): RunEntry[] {
      return [
        { type: 'begin', id },
        ...(text === '' ? [] : [{ type: 'text' as const, id, text }]),
        ...calls.map((call, index) => ({
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
      const named = calls.filter((call) => call !== undefined && call.name !== '')
      return {
        type: 'AIMessage',
        data: {
          id,
          content: text,
          ...(named.length > 0 ? { tool_calls: named.map(toolCallOf) } : {}),
          ...(usage ? { usage } : {}),
          ...(cut ? { cut } : {}),
        },
      }
    },
  }
}

/** Arguments that are no JSON object are kept as far as they can be read; the check before execution tells the model. */
function toolCallOf(call: { id: string; name: string; args: string }): ToolCall {
  return {
    id: call.id,
    name: call.name,
    args: readableArguments(call.args === '' ? '{}' : call.args),
    type: 'tool_call',
  }
}
