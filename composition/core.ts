import type { Settings } from '../infra/config.ts'
import type { Infra } from '../infra/index.ts'
import type { Logger } from '../infra/logger.ts'
import { createSmtpMailer } from '../infra/mail/smtp-mailer.ts'
import { createDialects } from '../infra/model/dialects.ts'
import { createContextWindows, listedPriceOf } from '../infra/model/known-models.ts'
import { describePython } from '../infra/python/describe-python.ts'
import { startPythonProcess } from '../infra/python/python-process.ts'
import { createRateCounter } from '../infra/redis/rate-counter.ts'
import { createRunStream } from '../infra/redis/run-stream.ts'
import { createRefreshTimetable, createTimetable } from '../infra/temporal/timetable.ts'
import { createWorkflowClient } from '../infra/temporal/workflow-client.ts'
import { createDerivedSecrets } from '../services/accounts/derived-secrets.ts'
import { type AssistantConfigs, createAssistantConfigs } from '../services/assistants/configs.ts'
import { createAssistants } from '../services/assistants/index.ts'
import { createDownloads } from '../services/attachments/downloads.ts'
import { createBudgetCounting } from '../services/budgets/counting.ts'
import { type WorkUsage, createWorkUsage } from '../services/budgets/work.ts'
import { codeTool } from '../services/code/code-tool.ts'
import type { CodeInterpreter } from '../services/code/interpreter.ts'
import { createCodeSessions } from '../services/code/sessions.ts'
import type { Collections } from '../services/collections.ts'
import { createEraseUnstored } from '../services/deletion/erase-unstored.ts'
import { createDocuments } from '../services/documents/index.ts'
import { documentStore } from '../services/documents/store.ts'
import { createAllowances } from '../services/groups/allowances.ts'
import { groupStore } from '../services/groups/store.ts'
import { createFiles } from '../services/knowledge/files.ts'
import { createProjectFileRecords } from '../services/knowledge/project-file-records.ts'
import { type ProjectFiles, createProjectFiles } from '../services/knowledge/project-files.ts'
import { createReceiveProjectFile } from '../services/knowledge/receive-project-file.ts'
import { createRetrievalTools } from '../services/knowledge/retrieval-tool.ts'
import { type StorageQuota, createStorageQuota } from '../services/knowledge/storage-quota.ts'
import { type McpLogins, createMcpLogins } from '../services/mcp-logins/index.ts'
import { type ModelsNow, createLiveModels } from '../services/models/live-models.ts'
import { createAccountOf } from '../services/runs/admit-run.ts'
import { createAskable } from '../services/runs/delegation/start-child-run.ts'
import { createSchedules } from '../services/schedules/index.ts'
import { scheduleTool } from '../services/schedules/schedule-tool.ts'
import { createSyncSchedule } from '../services/schedules/sync.ts'
import { createRequestHashes, createSecretBox, createTokenHashes } from '../services/secrets.ts'
import { createSyncSource } from '../services/sources/sync-sources.ts'
import { createConversations } from '../services/threads/conversations.ts'
import { createThreadCreation } from '../services/threads/create-thread.ts'
import { createEraseWhatWasSaid } from '../services/threads/erase-what-was-said.ts'
import { createThreads } from '../services/threads/index.ts'
import { createLogScan } from '../services/threads/log-scan.ts'
import { createThreadStates } from '../services/threads/log-states.ts'
import { createPendingInput, createThreadLog } from '../services/threads/log.ts'
import { toolCatalogue } from '../services/tool-catalogue.ts'
import { createTools } from '../services/tools/index.ts'
import type { WorkflowClient } from '../services/workflow-client.ts'
import { composeMemory } from './memory.ts'

export type Core = ReturnType<typeof composeCore>

/** What several capabilities share. */
export function composeCore(settings: Settings, infra: Infra, logger: Logger) {
  const { collections, transaction } = infra.database
  const interpreter = composeCode(settings)
  const secretBox = createSecretBox(settings.secretsKey, settings.secretsKeyPrevious)
  const tokenHashes = createTokenHashes(settings.secretsKey, settings.secretsKeyPrevious)
  const assistantConfigs = createAssistantConfigs(secretBox, tokenHashes)
  const workflows = createWorkflowClient(infra.temporal, settings)
  const models = createLiveModels({
    listedPrice: listedPriceOf,
    collections,
    secretBox,
    environment: settings.models,
    onError: (error) => logger.warn({ err: error }, 'the settings of models could not be read'),
  })
  const contextWindowOf = createContextWindows(models, settings.modelContextTokens)
  const log = createThreadLog({ collections, transaction })
  const stream = createRunStream(infra.redis, { idleSeconds: settings.runStreamHours * 3600 })
  const pendingInput = createPendingInput(collections)
  const reading = { collections, pendingInput }
  const scanLog = createLogScan(reading)
  const states = createThreadStates({ ...reading, scan: scanLog })
  const createThread = createThreadCreation({ collections, transaction })
  const timetable = createTimetable(infra.temporal.client, settings)
  const refreshes = createRefreshTimetable(infra.temporal.client, settings)
  const sourceSync = {
    sync: createSyncSource({ collections, workflows, refreshes }),
    onError: (error: unknown) => logger.warn({ err: error }, 'a source could not be passed on; a worker tries again'),
  }
  const storageQuota = createStorageQuota(collections, settings)
  const threads = createThreads({ ...reading, transaction, createThread, log, states, storageQuota })
  const assistants = createAssistants({ collections, transaction, configs: assistantConfigs })
  /** Of the images and files that messages and answers name by address. */
  const downloads = createDownloads(infra.outbound)
  const scheduleSync = {
    sync: createSyncSchedule({ collections, timetable }),
    onError: (error: unknown) => logger.warn({ err: error }, 'a schedule could not be passed on; a worker tries again'),
  }
  const owned = { settings, collections, transaction, timetable, assistants, threads, downloads }
  const schedules = createSchedules({ ...owned, ...scheduleSync })
  const memory = composeMemory(infra, logger, assistants)
  const budgetCounting = createBudgetCounting({ collections, assistantConfigs, models, contextWindowOf })
  const projectFiles = composeProjectFiles({ settings, infra, collections, storageQuota, workflows })
  const mcpLogins = createMcpLogins({
    collections,
    assistants,
    outbound: infra.outbound,
    secretBox,
    redirectUri: `${settings.frontendUrl}/console/connected`,
  })
  const embeddingModel = infra.knowledge.embeddings?.name
  const workUsage = createWorkUsage({
    collections,
    budgetCounting,
    models,
    embeddingModel,
    onError: (error) => logger.warn({ err: error }, 'work was not counted'),
  })

  return {
    settings,
    infra,
    logger,
    collections,
    transaction,
    tracing: infra.tracing,
    dialects: createDialects(),
    secretBox,
    requestHashes: createRequestHashes(settings.secretsKey, settings.secretsKeyPrevious),
    assistantConfigs,
    derivedSecrets: createDerivedSecrets(settings.secretsKey),
    mailer: createSmtpMailer(settings),
    stream,
    workflows,
    models,
    contextWindowOf,
    timetable,
    scheduleSync,
    refreshes,
    sourceSync,
    /** Schedules as their owners see them, without their runs. */
    schedules,
    memory,
    budgetCounting,
    eraseUnstored: createEraseUnstored({ collections, transaction, budgetCounting, stream, workflows }),
    embeddingModel,
    workUsage,
    log,
    scanLog,
    conversations: createConversations({ collections }),
    pendingInput,
    erase: createEraseWhatWasSaid({
      collections,
      documents: documentStore(collections),
      log,
      pendingInput,
      stream,
      workflows,
    }),
    states,
    createThread,
    threads,
    documents: createDocuments({ collections, transaction, threads }),
    assistants,
    allowances: createAllowances(groupStore(collections)),
    accountOf: createAccountOf(models, secretBox),
    storageQuota,
    ...projectFiles,
    rateCounter: createRateCounter(infra.redis, settings.taskQueuePrefix, settings.rateCountMs),
    downloads,
    interpreter,
    mcpLogins,
    tools: composeTools({
      infra,
      models,
      collections,
      assistantConfigs,
      interpreter,
      mcpLogins,
      memory,
      schedules,
      projectFiles: projectFiles.projectFiles,
      workUsage,
      storageQuota,
    }),
    /** For failures of a run's stream that the run itself survives. */
    onError: (error: unknown) => logger.warn({ err: error }, 'run stream failed'),
  }
}

/** Executes the code of models; undefined if the settings switch it off. Nothing is started before the first code. */
function composeCode({
  codeInterpreter: isOn,
  codeProcesses: processes,
  codeMemoryMb: memoryMb,
  codeSeconds: cpuSeconds,
  codePackages: packages,
}: Settings) {
  if (!isOn) return undefined
  // The processors may be taken by others.
  const limits = { memoryMb, cpuSeconds, timeoutSeconds: 3 * cpuSeconds }
  return createCodeSessions({
    start: () => startPythonProcess(limits, packages),
    description: describePython(packages),
    processes,
    keepsReady: true,
  })
}

interface ProjectFileParts {
  settings: Settings
  infra: Infra
  collections: Collections
  storageQuota: StorageQuota
  workflows: WorkflowClient
}

/** Files of assistants, and those that belong to a project. */
function composeProjectFiles({ settings, infra, collections, storageQuota, workflows }: ProjectFileParts) {
  const { blobs } = infra.knowledge
  const files = createFiles({ collections, blobs, workflows, deletionWaitMs: settings.deletionWaitSeconds * 1000 })
  const records = createProjectFileRecords({ collections, blobs, storageQuota })
  const receive = createReceiveProjectFile({ collections, records })
  return { files, records, projectFiles: createProjectFiles({ collections, blobs, files, records, receive }) }
}

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
function composeTools({
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
    models,
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
    retrieval: createRetrievalTools({ collections, assistantConfigs, vectors, embedder, reranker }),
  })
}
