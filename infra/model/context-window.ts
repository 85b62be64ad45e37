import * as models from 'gpt-tokenizer/models'
import { knownWindow } from './known-models.ts'

/** The context window of a model in tokens, for the models that the tokenizer's authors or ours list; else `fallback`. */
export function contextWindowOf(model: string, fallback: number): number {
  return listedWindow(model) ?? fallback
}

/** Whether the tokenizer's authors list the model. */
export function isListedModel(model: string): boolean {
  return listedWindow(model) !== undefined
}

function listedWindow(model: string): number | undefined {
  const known: unknown = Reflect.get(models, model)
  if (typeof known !== 'object' || known === null || !('context_window' in known)) return knownWindow(model)
  return typeof known.context_window === 'number' ? known.context_window : undefined
}
