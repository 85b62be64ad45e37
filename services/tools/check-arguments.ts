import { Ajv, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { JsonSchema, Tool } from './tool.ts'

const compiled = new WeakMap<JsonSchema, ValidateFunction | null>()

/**
 * What is wrong with the arguments of a call, in words for the model, or undefined when they match
 * the tool's JSON Schema. A schema that cannot be used (an MCP server may send anything) checks
 * nothing: the server judges its arguments itself.
 */
export function checkArguments(tool: Pick<Tool, 'parameters'>, args: Record<string, unknown>): string | undefined {
  const validate = compiled.get(tool.parameters) ?? compile(tool.parameters)
  compiled.set(tool.parameters, validate)
  if (validate === null || validate(args)) return undefined
  const problems = (validate.errors ?? []).slice(0, 5).map((error) => {
    const allowed: unknown = error.params['allowedValues']
    const values = Array.isArray(allowed) ? `: ${allowed.map((value) => JSON.stringify(value)).join(', ')}` : ''
    const extra: unknown = error.params['additionalProperty']
    const name = typeof extra === 'string' ? ` (${extra})` : ''
    return `${error.instancePath || 'the arguments'} ${error.message ?? 'is not valid'}${values}${name}`
  })
  return `the arguments do not match the tool's schema: ${problems.join('; ')}.`
}

function compile(given: JsonSchema): ValidateFunction | null {
  const { $schema: dialect, ...schema }: { $schema?: unknown } = given
  const options = { strict: false, allErrors: true, logger: false } as const
  const ajv = typeof dialect === 'string' && dialect.includes('draft-07') ? new Ajv(options) : new Ajv2020(options)
  addFormats.default(ajv)
  try {
    return ajv.compile(schema)
  } catch {
    return null
  }
}
