import { type Message } from '../messages.ts'
import type { ParentRun } from '../records/run.ts'
import type { ChildRunKey } from '../records/tool-call.ts'
import type { NewIds } from './new-ids.ts'

/** What names runs, threads and assistants that asked or were asked, as they were imported. */

export function withNewChildIds(childRun: ChildRunKey, idOf: NewIds): ChildRunKey {
  return {
    assistant_id: idOf('assistant', childRun.assistant_id),
    run_id: idOf('run', childRun.run_id),
    thread_id: idOf('thread', childRun.thread_id),
  }
}

export function withNewParentRuns(parent: ParentRun, idOf: NewIds): ParentRun {
  return {
    run_id: idOf('run', parent.run_id),
    thread_id: idOf('thread', parent.thread_id),
    call_id: parent.call_id,
    root_run_id: idOf('run', parent.root_run_id),
    assistant_ids: parent.assistant_ids.map((id) => idOf('assistant', id)),
  }
}

export function withNewChildRuns(message: Message, idOf: NewIds): Message {
  if (message.type === 'ToolMessage') {
    const { asked: childRun } = message.data
    return childRun === undefined
      ? message
      : { ...message, data: { ...message.data, asked: withNewChildIds(childRun, idOf) } }
  }
  if (message.type !== 'AIMessage' || message.data.tool_calls === undefined) return message
  const calls = message.data.tool_calls.map(({ run_id, thread_id, ...call }) => ({
    ...call,
    ...(run_id === undefined ? {} : { run_id: idOf('run', run_id) }),
    ...(thread_id === undefined ? {} : { thread_id: idOf('thread', thread_id) }),
  }))
  return { ...message, data: { ...message.data, tool_calls: calls } }
}
