import type { Settings } from '../infra/config.ts'
import type { ModelsNow } from '../services/models/live-models.ts'
import { contextWindowOf } from '../infra/model/context-window.ts'
import { windowAmong } from '../infra/model/routed-model.ts'

/** The context window of a model in tokens, by the settings. */
export function windowOf(models: ModelsNow, { modelContextTokens }: Pick<Settings, 'modelContextTokens'>) {
  return (model: string) =>
    windowAmong(models.current().providers, model, (listed, server = models.current().account) =>
      contextWindowOf(listed, modelContextTokens, server),
    )
}
