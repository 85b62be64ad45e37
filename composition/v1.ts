import { createProjectFiles } from '../services/knowledge/project-files.ts'
import { createReceiveProjectFile } from '../services/knowledge/receive-project-file.ts'
import { createStorageQuota } from '../services/knowledge/storage-quota.ts'
import { createStoreEntries } from '../services/knowledge/store-entries.ts'
import { createVectorStores } from '../services/knowledge/vector-stores.ts'
import { createAnsweringModels } from '../services/v1/answering-models.ts'
import { createV1Assistants } from '../services/v1/assistants.ts'
import { createV1Chat } from '../services/v1/chat.ts'
import { createEmbeddings } from '../services/v1/embeddings.ts'
import { createGateway } from '../services/v1/gateway.ts'
import { createV1Models } from '../services/v1/models.ts'
import { createStoredCompletions } from '../services/v1/stored-completions.ts'
import type { Core } from './core.ts'
import type { composeDeletion } from './deletion.ts'
import type { composeKnowledge } from './knowledge.ts'
import type { composeRuns } from './runs.ts'

type Parts = Pick<ReturnType<typeof composeRuns>, 'listModels' | 'runs'> &
  Pick<ReturnType<typeof composeDeletion>, 'deletions'> &
  Pick<ReturnType<typeof composeKnowledge>, 'files' | 'passages' | 'startIngestion'>

/** What only `/v1` offers: a whole project in the shapes of OpenAI's interface. */
export function composeV1(
  { settings, infra, collections, transaction, assistants, assistantConfigs: configs, partSources, workflows }: Core,
  { listModels, runs, deletions, files, passages, startIngestion }: Parts,
) {
  const { blobs, vectors, embedder } = infra.knowledge
  const embeddings = createEmbeddings(embedder)
  const storageQuota = createStorageQuota(collections, settings)
  const vectorStores = createVectorStores({ collections, transaction, configs, deletions })
  const projectFiles = createProjectFiles({
    collections,
    blobs,
    files,
    receive: createReceiveProjectFile({ collections, blobs, storageQuota }),
  })
  return {
    embeddings,
    models: createV1Models({ assistants, listModels, embeddingModel: embeddings.model }),
    assistants: createV1Assistants({
      assistants,
      configs,
      deletions,
      vectorStores,
      defaultModel: settings.defaultModel,
    }),
    files: projectFiles,
    chat: createV1Chat({
      configs,
      answering: createAnsweringModels({
        assistants,
        gateway: createGateway({ collections, transaction, configs }),
        listModels,
      }),
      runs,
      partSources,
      files: projectFiles,
      workflows,
    }),
    completions: createStoredCompletions({ collections, runs, deletions }),
    vectorStores,
    entries: createStoreEntries({
      collections,
      vectors,
      startIngestion,
      files,
      passages,
      canEmbed: embedder !== undefined,
    }),
  }
}
