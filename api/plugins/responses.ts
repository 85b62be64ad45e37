import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifyInstance } from 'fastify'

/**
 * Answers are plain `JSON.stringify`, which keeps free-form members exactly as they are. With `check` (set by
 * tests), an answer that does not match its declared schema throws.
 */
export function installResponses(app: FastifyInstance, check: boolean): void {
  if (!check) {
    app.setSerializerCompiler(() => (value) => JSON.stringify(value))
    return
  }
  app.setSerializerCompiler(({ schema, method, url, httpStatus }) => {
    const validate = checkOf(schema)
    return (value) => {
      const plain: unknown = JSON.parse(JSON.stringify(value))
      if (!validate(plain)) {
        const errors = checker().errorsText(validate.errors)
        throw new Error(`${method} ${url} answered ${httpStatus} against its schema: ${errors}`)
      }
      return JSON.stringify(value)
    }
  })
}

let ajv: Ajv | undefined

function checker(): Ajv {
  if (ajv === undefined) {
    ajv = new Ajv({ strict: false, allErrors: true })
    addFormats.default(ajv, ['email', 'uuid', 'uri', 'date-time', 'binary'])
  }
  return ajv
}

/** By the text of its schema: a process of tests starts many services, and compiling took half of each start. */
const checks = new Map<string, ValidateFunction>()

function checkOf(schema: object): ValidateFunction {
  const text = JSON.stringify(schema)
  const known = checks.get(text) ?? checker().compile(schema)
  checks.set(text, known)
  return known
}
