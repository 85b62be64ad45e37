import * as models from 'gpt-tokenizer/models'
import { isAtMaker, knownWindow } from './known-models.ts'

/**
 * The context window of a model in tokens, for the models that the tokenizer's authors list, and at their makers for those
 * that ours lists; else `fallback`. `server`: where it is asked.
 */
export function contextWindowOf(model: string, fallback: number, server: Parameters<typeof isAtMaker>[0] = {}): number {
  return listedWindow(model, server) ?? fallback
}

/** Whether the tokenizer's authors list the model. */
export function isListedModel(model: string): boolean {
  return listedWindow(model, {}) !== undefined
}

function listedWindow(model: string, server: Parameters<typeof isAtMaker>[0]): number | undefined {
  const known: unknown = Reflect.get(models, model)
  if (typeof known !== 'object' || known === null || !('context_window' in known))
    return isAtMaker(server) ? knownWindow(model) : undefined
  return typeof known.context_window === 'number' ? known.context_window : undefined
}
