import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { cutText } from './cut-text.ts'

/** A JSON Schema (draft 2020-12) of an object. */
export type JsonSchema = object

type RegExpEngine = NonNullable<NonNullable<ConstructorParameters<typeof Ajv>[0]>['code']>['regExp']

/** What is wrong with the arguments, as a message for the model; undefined if they match. */
export type ArgumentCheck = (args: Record<string, unknown>) => string | undefined

/**
 * Creates the check of arguments against a tool's JSON Schema; undefined if the schema cannot be used. `regExp`
 * replaces JavaScript's regular expressions. Creating a check executes code generated from the schema, and checking
 * may take exponential time: check untrusted schemas in `infra/schema-checks`.
 */
export function argumentCheck(given: JsonSchema, regExp?: RegExpEngine): ArgumentCheck | undefined {
  const validate = compile(given, regExp)
  if (validate === undefined) return undefined
  return (args) => (validate(args) ? undefined : problemsOf(validate))
}

function compile(given: JsonSchema, regExp: RegExpEngine): ValidateFunction | undefined {
  // Checking such a schema would return a promise.
  if ('$async' in given) return undefined
  const { $schema: dialect, ...schema }: { $schema?: unknown } = given
  const options = {
    strict: false,
    allErrors: true,
    logger: false,
    ...(regExp === undefined ? {} : { code: { regExp } }),
  } as const
  const ajv = typeof dialect === 'string' && dialect.includes('draft-07') ? new Ajv(options) : new Ajv2020(options)
  addFormats.default(ajv)
  try {
    return ajv.compile(schema)
  } catch {
    return undefined
  }
}

function problemsOf({ errors }: ValidateFunction): string {
  const problems = (errors ?? []).slice(0, 5).map((error) => {
    const allowed: unknown = error.params['allowedValues']
    const values = Array.isArray(allowed) ? `: ${shownValues(allowed)}` : ''
    const extra: unknown = error.params['additionalProperty']
    const name = typeof extra === 'string' ? ` (${short(extra)})` : ''
    return `${short(error.instancePath) || 'the arguments'} ${short(error.message ?? 'is not valid')}${values}${name}`
  })
  return `the arguments do not match the tool's schema: ${problems.join('; ')}.`
}

function shownValues(allowed: unknown[]): string {
  const shown = allowed.slice(0, 50).map((value) => short(JSON.stringify(value) ?? ''))
  return `${shown.join(', ')}${allowed.length > shown.length ? ', …' : ''}`
}

function short(text: string): string {
  return text.length > 500 ? `${cutText(text, 500)}…` : text
}
