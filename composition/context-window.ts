import type { Settings } from '../infra/config.ts'
import { contextWindowOf } from '../infra/model/context-window.ts'
import { windowAmong } from '../infra/model/routed-model.ts'

/** The context window of a model in tokens, by the settings. */
export function windowOf({ providers, modelContextTokens }: Pick<Settings, 'providers' | 'modelContextTokens'>) {
  return (model: string) => windowAmong(providers, model, (listed) => contextWindowOf(listed, modelContextTokens))
}
