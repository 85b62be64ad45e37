import { type Respond, type ScriptedModel, startScriptedModel } from './scripted-model.ts'
import { type ServiceOptions, type TestService, startService } from './service.ts'
import { useStarted } from './use-started.ts'

export interface ModelServiceOptions extends ServiceOptions {
  /** What the model answers when its script is at its end; without it that is an error. */
  respond?: Respond
}

/** A service, and as `model` the scripted model that it asks. `close` ends both. */
export type ModelService = TestService & { model: ScriptedModel }

/**
 * Starts a scripted model and a service that asks it. `env` wins over the settings of the model.
 * When the service does not start, the model is closed and the error thrown on. `close` ends the
 * service, then the model, and throws when a request found the script at its end.
 */
export async function startModelService(options: ModelServiceOptions = {}): Promise<ModelService> {
  const model = await startScriptedModel(options)
  try {
    const service = await startService({ ...options, env: { ...model.env, ...options.env } })
    return {
      ...service,
      model,
      close: async () => {
        await service.close()
        await model.close()
      },
    }
  } catch (error) {
    await model.close()
    throw error
  }
}

/** `startModelService` for all tests of the file or the `describe` that calls this. */
export const useModelService = (options: ModelServiceOptions = {}): ModelService =>
  useStarted(() => startModelService(options))
