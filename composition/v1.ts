import { createListeningServer, createSpeakingServer } from '../infra/model/audio-server.ts'
import { createModelServers } from '../infra/model/model-server.ts'
import { createAudio } from '../services/audio/index.ts'
import { createPartUploads } from '../services/knowledge/part-uploads.ts'
import { createStoreEntries } from '../services/knowledge/store-entries.ts'
import { createVectorStores } from '../services/knowledge/vector-stores.ts'
import { createServedList } from '../services/models/served-list.ts'
import { createAnsweringModels, createGateway } from '../services/v1/answering-models.ts'
import { createV1Assistants } from '../services/v1/assistants.ts'
import { createV1Chat } from '../services/v1/chat.ts'
import { createCodeFiles } from '../services/v1/code-files.ts'
import { createContainers } from '../services/v1/containers.ts'
import { createConversations } from '../services/v1/conversations.ts'
import { createCreateStore } from '../services/v1/create-store.ts'
import { createEmbeddings } from '../services/v1/embeddings.ts'
import { createV1Models } from '../services/v1/models.ts'
import { createReceiveMessages } from '../services/v1/receive-messages.ts'
import { createResponses } from '../services/v1/responses/index.ts'
import { createRewriteQueries } from '../services/v1/rewrite-queries.ts'
import { createV1Runs } from '../services/v1/runs.ts'
import { createStoredCompletions } from '../services/v1/stored-completions.ts'
import { createThreadStores } from '../services/v1/thread-stores.ts'
import { createV1Threads } from '../services/v1/threads.ts'
import type { Core } from './core.ts'
import type { composeDeletion } from './deletion.ts'
import type { composeKnowledge } from './knowledge.ts'
import type { composeRuns } from './runs.ts'

type Parts = Pick<ReturnType<typeof composeRuns>, 'listModels' | 'runs'> &
  Pick<ReturnType<typeof composeDeletion>, 'deletions'> &
  Pick<ReturnType<typeof composeKnowledge>, 'files' | 'passages' | 'startIngestion'>

/** What only `/v1` offers: a whole project in the shapes of OpenAI's interface. */
export function composeV1(core: Core, { listModels, runs, deletions, files, passages, startIngestion }: Parts) {
  const {
    settings,
    infra,
    collections,
    transaction,
    assistants,
    assistantConfigs: configs,
    downloads,
    storageQuota,
    eraseUnstored,
    models,
    records,
    projectFiles,
  } = core
  const { blobs, vectors, embedder, embeddings: server } = infra.knowledge
  const embeddings = createEmbeddings(server, core.workUsage)
  const audio = createAudio({ ...audioServers(settings, infra.outbound.ownFetch), workUsage: core.workUsage })
  const vectorStores = createVectorStores({ collections, transaction, configs, deletions })
  const entries = createStoreEntries({
    collections,
    vectors,
    startIngestion,
    files,
    passages,
    canEmbed: embedder !== undefined,
  })
  const createStore = createCreateStore({ vectorStores, entries })
  const gateway = createGateway({ collections, transaction, configs })
  const servedList = createServedList({
    models,
    servers: createModelServers(infra.outbound.ownFetch),
    onError: (error) => core.logger.warn({ err: error }, 'the model server gave no list of its models'),
  })
  const answering = createAnsweringModels({ assistants, gateway, listModels, models })
  const canExecute = core.interpreter !== undefined
  const containers = createContainers({ collections, transaction, files: projectFiles, storageQuota, deletions })
  const chat = createV1Chat({ configs, answering, runs, downloads, files: projectFiles, eraseUnstored })
  const threads = createV1Threads({
    ...core,
    deletions,
    receive: createReceiveMessages({ downloads, files: projectFiles, entries }),
    stores: createThreadStores({ collections, vectorStores, entries, createStore }),
    codeFiles: createCodeFiles({ collections, files: projectFiles }),
  })
  return {
    baseUrl: settings.baseUrl,
    canExecute,
    responses: createResponses({
      ...core,
      configs,
      answering,
      runs,
      deletions,
      files: projectFiles,
      vectorStores,
      canSearch: () => core.models.current().search !== undefined,
      canExecute,
      containers,
      offeredBy: core.tools.offeredBy,
      countTokens: infra.tokenCounter.count,
    }),
    conversations: createConversations({ ...core, deletions, files: projectFiles }),
    embeddings,
    audio,
    models: createV1Models({
      assistants,
      listModels,
      servedList,
      allowances: core.allowances,
      otherModels: [embeddings.model, ...audio.models].filter((name) => name !== undefined),
    }),
    assistants: createV1Assistants({
      assistants,
      configs,
      deletions,
      vectorStores,
      createStore,
      models,
      files: projectFiles,
      canExecute,
    }),
    threads,
    runs: createV1Runs({ ...core, threads, runs }),
    files: projectFiles,
    uploads: createPartUploads({ collections, transaction, blobs, records, storageQuota }),
    chat,
    rewriteQueries: createRewriteQueries({ gateway, chat, runs }),
    completions: createStoredCompletions({ ...core, runs, deletions }),
    vectorStores,
    entries,
    createStore,
    containers,
  }
}

function audioServers(settings: Core['settings'], ownFetch: typeof fetch) {
  const { transcriptionBaseUrl, speechBaseUrl } = settings
  return {
    listening:
      transcriptionBaseUrl === undefined
        ? undefined
        : createListeningServer({
            baseUrl: transcriptionBaseUrl,
            apiKey: settings.transcriptionApiKey,
            model: settings.transcriptionModel,
            fetch: ownFetch,
          }),
    speaking:
      speechBaseUrl === undefined
        ? undefined
        : createSpeakingServer({
            baseUrl: speechBaseUrl,
            apiKey: settings.speechApiKey,
            model: settings.speechModel,
            voice: settings.speechVoice,
            fetch: ownFetch,
          }),
  }
}
