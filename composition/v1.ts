import { createPartUploads } from '../services/knowledge/part-uploads.ts'
import { createProjectFileRecords } from '../services/knowledge/project-file-records.ts'
import { createProjectFiles } from '../services/knowledge/project-files.ts'
import { createReceiveProjectFile } from '../services/knowledge/receive-project-file.ts'
import { createStorageQuota } from '../services/knowledge/storage-quota.ts'
import { createStoreEntries } from '../services/knowledge/store-entries.ts'
import { createVectorStores } from '../services/knowledge/vector-stores.ts'
import { createV1Assistants } from '../services/v1/assistants.ts'
import { createCreateStore } from '../services/v1/create-store.ts'
import { createEmbeddings } from '../services/v1/embeddings.ts'
import { createV1Models } from '../services/v1/models.ts'
import type { Core } from './core.ts'
import type { composeDeletion } from './deletion.ts'
import type { composeKnowledge } from './knowledge.ts'
import type { composeRuns } from './runs.ts'

type Parts = Pick<ReturnType<typeof composeRuns>, 'listModels'> &
  Pick<ReturnType<typeof composeDeletion>, 'deletions'> &
  Pick<ReturnType<typeof composeKnowledge>, 'files' | 'passages' | 'startIngestion'>

/** What only `/v1` offers: a whole project in the shapes of OpenAI's interface. */
export function composeV1(
  { settings, infra, collections, transaction, assistants, assistantConfigs: configs }: Core,
  { listModels, deletions, files, passages, startIngestion }: Parts,
) {
  const { blobs, vectors, embedder } = infra.knowledge
  const embeddings = createEmbeddings(embedder)
  const storageQuota = createStorageQuota(collections, settings)
  const records = createProjectFileRecords({ collections, blobs, storageQuota })
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
  return {
    embeddings,
    models: createV1Models({ assistants, listModels, embeddingModel: embeddings.model }),
    assistants: createV1Assistants({
      assistants,
      configs,
      deletions,
      vectorStores,
      createStore,
      defaultModel: settings.defaultModel,
    }),
    files: createProjectFiles({
      collections,
      blobs,
      files,
      records,
      receive: createReceiveProjectFile({ collections, records }),
    }),
    uploads: createPartUploads({ collections, blobs, records, storageQuota }),
    vectorStores,
    entries,
    createStore,
  }
}
