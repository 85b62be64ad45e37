import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'

const now = new Date(0)

/** A run with its assistant and thread, as a process hands it from one step to the next. */
export function offeredRun(id: string): { run: RunRecord; assistant: AssistantRecord; thread: ThreadRecord } {
  const common = { user_id: 'user', project_id: 'project', public: false, created_at: now }
  return {
    run: {
      _id: id,
      ...common,
      acting: { person: 'owner', origin: 'chat' },
      thread_id: 'thread',
      assistant_id: 'assistant',
      status: 'running',
      input_json: '[]',
      overrides: {},
      fence: 1,
    },
    assistant: {
      _id: 'assistant',
      ...common,
      name: 'A',
      access_mode: 'authenticated',
      allowed_origins: [],
      has_files: false,
      updated_at: now,
    },
    thread: {
      _id: 'thread',
      ...common,
      name: 'T',
      metadata_json: '{}',
      last_outcome: 'none',
      has_system: false,
      updated_at: now,
    },
  }
}
