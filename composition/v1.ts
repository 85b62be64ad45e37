import { createV1Assistants } from '../services/v1/assistants.ts'
import { createEmbeddings } from '../services/v1/embeddings.ts'
import { createV1Models } from '../services/v1/models.ts'
import type { Core } from './core.ts'
import type { composeDeletion } from './deletion.ts'
import type { composeRuns } from './runs.ts'

type Parts = Pick<ReturnType<typeof composeRuns>, 'listModels'> & Pick<ReturnType<typeof composeDeletion>, 'deletions'>

/** What only `/v1` offers: a whole project in the shapes of OpenAI's interface. */
export function composeV1(
  { settings, infra, assistants, assistantConfigs: configs }: Core,
  { listModels, deletions }: Parts,
) {
  const embeddings = createEmbeddings(infra.knowledge.embedder)
  return {
    embeddings,
    models: createV1Models({ assistants, listModels, embeddingModel: embeddings.model }),
    assistants: createV1Assistants({ assistants, configs, deletions, defaultModel: settings.defaultModel }),
  }
}
