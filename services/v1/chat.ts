import { newId } from '../../domain/ids.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { AssistantConfigs } from '../assistants/configs.ts'
import type { Received } from '../attachments/receive-content.ts'
import type { EraseUnstored } from '../deletion/erase-unstored.ts'
import type { Caller } from '../owner.ts'
import { unstoredMs } from '../public/threads.ts'
import { type FollowedRun, type NewRun, type RunRequest, type Runs, inputMessages } from '../runs/index.ts'
import { threadRecordOf } from '../threads/create-thread.ts'
import { clientToolOf } from '../tools/client-tool.ts'
import type { AnsweringModel } from './answering-models.ts'
import { type PartSourcesDeps, withPartSources } from './part-sources.ts'

interface V1ChatDeps extends PartSourcesDeps {
  configs: Pick<AssistantConfigs, 'settingsOf'>
  answering: (caller: Caller, name: string) => Promise<AnsweringModel>
  runs: Pick<Runs, 'startFollowed' | 'reserve' | 'follow' | 'get'>
  eraseUnstored: EraseUnstored
}

/** Requests for chat completions of a project's caller: each choice is a run on a thread of its own. */
export function createV1Chat(deps: V1ChatDeps) {
  const { configs, answering, runs, eraseUnstored } = deps
  return {
    answering,

    /** The names of the functions of the client that an assistant has by itself. */
    clientToolsOf: (assistant: AssistantRecord): string[] =>
      configs.settingsOf(assistant).tools.flatMap((setting) => {
        const tool = setting.type === 'client' ? clientToolOf(setting) : undefined
        return tool !== undefined && 'tools' in tool ? tool.tools.map(({ name }) => name) : []
      }),

    /** A thread that is stored with its run, neither counted nor listed; `isStored`: not deleted after the answer. */
    draft: (caller: Caller, { assistant }: AnsweringModel, { isStored }: { isStored: boolean }): ThreadRecord => ({
      ...threadRecordOf({
        id: newId(),
        userId: caller.userId,
        projectId: caller.projectId,
        name: 'Chat completion',
        metadataJson: '{}',
        assistantId: assistant._id,
        public: false,
      }),
      counted: false,
      ...(isStored ? {} : { expires_at: new Date(Date.now() + unstoredMs) }),
    }),

    /** The input of a run; its parts may name files of the project. */
    input: (caller: Caller, messages: RunRequest['input'], loc: string[]): Promise<Received> =>
      withPartSources(deps, caller, (sources) => inputMessages(sources, messages, { loc })),

    start: (newRun: NewRun, runId: string): Promise<FollowedRun> => runs.startFollowed(newRun, runId),
    reserve: runs.reserve,

    find: (caller: Caller, runId: string): Promise<RunRecord> => runs.get(caller, runId),
    follow: (run: RunRecord) => runs.follow(run),

    /** Deletes a run with its thread and messages, or begins to. */
    forget: eraseUnstored,
  }
}
