import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifyInstance, FastifySchema } from 'fastify'
import { describeOperation } from '../openapi/operation.ts'

/** Is told of an answer that its operation does not declare. */
export type NoteProblem = (problem: string) => void

/**
 * Answers are plain `JSON.stringify`, which keeps free-form members exactly as they are. With `noteProblem` (set
 * by tests), it is told of answers with a status that the OpenAPI document does not have, and an answer that does not
 * match its declared schema throws.
 */
export function installResponses(app: FastifyInstance, noteProblem: NoteProblem | undefined): void {
  if (noteProblem === undefined) {
    app.setSerializerCompiler(() => (value) => JSON.stringify(value))
    return
  }
  noteUndeclared(app, noteProblem)
  app.setSerializerCompiler(({ schema, method, url, httpStatus }) => {
    // Compiled with the first such answer: a process of tests asks for few of a thousand schemas.
    let compiled: ValidateFunction | undefined
    return (value) => {
      const validate = (compiled ??= checkOf(schema))
      const plain: unknown = JSON.parse(JSON.stringify(value))
      if (!validate(plain)) {
        const errors = checker().errorsText(validate.errors)
        throw new Error(`${method} ${url} answered ${httpStatus} against its schema: ${errors}`)
      }
      return JSON.stringify(value)
    }
  })
}

function noteUndeclared(app: FastifyInstance, noteProblem: NoteProblem): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { schema, url = '' } = request.routeOptions
    if (schema !== undefined && !schema.hide) {
      const { response } = describeOperation(schema, request.routeOptions)
      const declared = [...Object.keys(response ?? {}).map(Number), ...unasked(schema)]
      if (!declared.includes(reply.statusCode))
        noteProblem(`${request.method} ${url} answered ${reply.statusCode}, which it does not declare`)
    }
    done()
  })
}

/**
 * The answers to what no operation describes: another method than that of the route, a body where none belongs, and a
 * client that has gone away, which gets none.
 */
const unasked = ({ body }: FastifySchema) => (body === undefined ? [400, 405, 408, 413, 415, 499] : [405, 499])

let ajv: Ajv | undefined

function checker(): Ajv {
  if (ajv === undefined) {
    ajv = new Ajv({ strict: false, allErrors: true, code: { optimize: false } })
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
