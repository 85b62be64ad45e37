import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifyInstance, FastifySchema } from 'fastify'
import { isEmailAddress } from '../../domain/email-address.ts'
import { AppError, type FieldProblem } from '../../domain/errors.ts'

/**
 * Stops at the first problem, because a list of all problems can be a hundred times as long as the request. The code of
 * a schema is not optimised: that took two thirds of its compilation, a tenth of a second for the largest schema, during
 * which no other request is answered.
 */
const shared = { allErrors: false, strict: false, removeAdditional: false, code: { optimize: false } } as const
/** A value that matches none of several alternatives gets one problem for each alternative. */
const maxProblems = 20

/** A process of tests starts many services, which share what is compiled of a route's schema. */
const strict = withFormats(new Ajv({ ...shared, coerceTypes: false }))
const converting = withFormats(new Ajv({ ...shared, coerceTypes: 'array', useDefaults: true }))

/**
 * Bodies are validated without changes: a default in a schema only documents what applies if a member is missing,
 * and a free-form `config` is returned without it. Path, query and header values arrive as text and are converted.
 * The first problem is reported as `{loc, msg, type}`. `prepare` may change a body before its check, or find a problem.
 */
export function installValidation(
  app: FastifyInstance,
  prepare: (schema: unknown, body: unknown) => FieldProblem | undefined = () => undefined,
): void {
  app.setValidatorCompiler<FastifySchema>(({ schema, httpPart }) => {
    // Compiled with the first request, because compiling two hundred schemas at the start takes a third of a
    // second.
    let compiled: ValidateFunction | undefined
    return (value: unknown) => {
      if (httpPart === 'body' && (value === undefined || value === null)) {
        return { error: new AppError('invalid_input', 'A body is required.', { fields: [missingBody] }) }
      }
      const problem = httpPart === 'body' ? prepare(schema, value) : undefined
      if (problem !== undefined) return { error: refusalOf([problem]) }
      const validate = (compiled ??= (httpPart === 'body' ? strict : converting).compile(schema))
      if (validate(value)) return { value }
      return { error: problemsOf(validate.errors ?? [], httpPart ?? 'body') }
    }
  })
}

const missingBody: FieldProblem = { loc: ['body'], msg: 'a body is required', type: 'missing' }

function withFormats(ajv: Ajv): Ajv {
  addFormats.default(ajv, ['uuid', 'uri', 'date-time'])
  // That of the library knows no letters but those of English.
  ajv.addFormat('email', { type: 'string', validate: isEmailAddress })
  return ajv
}

const partNames: Record<string, string> = { body: 'body', params: 'path', querystring: 'query', headers: 'header' }

function problemsOf(errors: ErrorObject[], httpPart: string): AppError {
  const fields = errors.slice(0, maxProblems).map((error) => ({
    loc: [partNames[httpPart] ?? httpPart, ...pathOf(error)],
    msg: error.keyword === 'additionalProperties' ? 'is not known here' : (error.message ?? 'is not valid'),
    type: error.keyword,
  }))
  return refusalOf(fields)
}

function refusalOf(fields: FieldProblem[]): AppError {
  const first = fields[0]
  return new AppError('invalid_input', first ? `${first.loc.join('.')}: ${first.msg}` : 'The request is not valid.', {
    fields,
  })
}

function pathOf(error: ErrorObject): (string | number)[] {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part))
  const named: unknown = error.params['missingProperty'] ?? error.params['additionalProperty']
  return typeof named === 'string' ? [...path, named] : path
}
