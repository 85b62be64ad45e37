import { Ajv } from 'ajv'
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
  const ajv = new Ajv({ strict: false, allErrors: true })
  addFormats.default(ajv, ['email', 'uuid', 'uri', 'date-time', 'binary'])
  app.setSerializerCompiler(({ schema, method, url, httpStatus }) => {
    const validate = ajv.compile(schema)
    return (value) => {
      const plain: unknown = JSON.parse(JSON.stringify(value))
      if (!validate(plain)) {
        throw new Error(
          `${method} ${url} answered ${httpStatus} against its schema: ${ajv.errorsText(validate.errors)}`,
        )
      }
      return JSON.stringify(value)
    }
  })
}
