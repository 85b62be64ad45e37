import { isJsonObject } from '../../domain/json.ts'
import { maxCallIndex } from '../../domain/messages.ts'
import { ModelFailure, type ModelFailureType } from '../../domain/model-failure.ts'

/** Members of what a model's server sends. Servers leave them out, or send null for them: both become undefined. */

export type JsonObject = Record<string, unknown>

export function objectAt(value: unknown, at: string): JsonObject | undefined {
  if (value === undefined || value === null) return undefined
  if (!isJsonObject(value)) throw invalid(`${at} must be an object`)
  return value
}

/** `Array.isArray` without its `any`. */
export function isArray(value: unknown): value is unknown[] {
  return Array.isArray(value)
}

export function arrayAt(value: unknown, at: string): unknown[] | undefined {
  if (value === undefined || value === null) return undefined
  if (!isArray(value)) throw invalid(`${at} must be an array`)
  if (value.length > maxCallIndex + 1) throw invalid(`${at} must not have more than ${maxCallIndex + 1} entries`)
  return value
}

export function stringAt(value: unknown, at: string, maxLength = Number.POSITIVE_INFINITY): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw invalid(`${at} must be a string`)
  if (value.length > maxLength) throw invalid(`${at} must not be longer than ${maxLength} characters`)
  return value
}

export function integerAt(value: unknown, at: string, max: number): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > max)
    throw invalid(`${at} must be an integer from 0 to ${max}`)
  return value
}

export function invalid(problem: string): ModelFailure {
  return refusal(`The model's server sent an answer that cannot be read: ${problem}.`, 'model_invalid_answer')
}

export function tooLong(problem: string): ModelFailure {
  return refusal(`The model's answer ${problem}.`, 'model_answer_too_long')
}

/** The server would do the same again, so it is not retried. */
function refusal(message: string, type: ModelFailureType): ModelFailure {
  return new ModelFailure(message, { statusCode: 502, type, retryable: false })
}
