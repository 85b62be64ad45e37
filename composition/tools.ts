import type { Infra } from '../infra/index.ts'
import type { AssistantConfigs } from '../services/assistants/configs.ts'
import { codeTool } from '../services/code/code-tool.ts'
import type { WorkUsage } from '../services/budgets/work.ts'
import type { CodeInterpreter } from '../services/code/interpreter.ts'
import type { Collections } from '../services/collections.ts'
import type { ProjectFiles } from '../services/knowledge/project-files.ts'
import { createRetrievalTool } from '../services/knowledge/retrieval-tool.ts'
import type { McpLogins } from '../services/mcp-logins/index.ts'
import type { ModelsNow } from '../services/models/live-models.ts'
import { createAskable } from '../services/runs/delegation/delegates.ts'
import type { createSchedules } from '../services/schedules/index.ts'
import { scheduleTool } from '../services/schedules/schedule-tool.ts'
import { toolCatalogue } from '../services/tool-catalogue.ts'
import { createTools } from '../services/tools/index.ts'
import type { composeMemory } from './memory.ts'
import type { StorageQuota } from '../services/knowledge/storage-quota.ts'

interface Parts {
  infra: Infra
  models: ModelsNow
  collections: Collections
  assistantConfigs: AssistantConfigs
  interpreter: CodeInterpreter | undefined
  mcpLogins: Pick<McpLogins, 'authorizationFor'>
  memory: Pick<ReturnType<typeof composeMemory>, 'tool'>
  schedules: ReturnType<typeof createSchedules>
  projectFiles: ProjectFiles
  workUsage: WorkUsage
  storageQuota: StorageQuota
}

/** The kinds of tools, and what each of them needs. */
export function composeTools({
  infra,
  models,
  collections,
  assistantConfigs,
  interpreter,
  mcpLogins,
  memory,
  schedules,
  projectFiles,
  workUsage,
  storageQuota,
}: Parts) {
  const { embedder, reranker, vectors } = infra.knowledge
  return createTools({
    catalogue: toolCatalogue,
    assistantConfigs,
    outbound: infra.outbound,
    search: () => models.current().search,
    fetch: infra.outbound.ownFetch,
    memory: memory.tool,
    schedule: (assistant, name, person) => scheduleTool({ collections, schedules }, assistant, { name, person }),
    code:
      interpreter &&
      ((assistant, name, wanted) => {
        const caller = { userId: assistant.user_id, projectId: assistant.project_id }
        const { codeFiles: assistantFiles } = assistantConfigs.settingsOf(assistant)
        const deps = { collections, interpreter, projectFiles, workUsage, storageQuota }
        return codeTool(deps, { name, caller, assistantFiles, wanted })
      }),
    mcpAuthorization: mcpLogins.authorizationFor,
    askable: createAskable({ collections, assistantConfigs }),
    retrieval: async (assistant, options) =>
      embedder &&
      createRetrievalTool({ collections, assistantConfigs, vectors, embedder, reranker }, assistant, options),
  })
}
