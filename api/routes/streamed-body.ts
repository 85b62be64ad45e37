import type { FastifyInstance, FastifySchemaCompiler, FastifySchema } from 'fastify'

/**
 * Options of a route that reads its body as a stream, with limits of its own: the schema of the body is only for the
 * documentation.
 */
export function streamedBody(app: Pick<FastifyInstance, 'validatorCompiler'>): {
  bodyLimit: number
  validatorCompiler: FastifySchemaCompiler<FastifySchema>
} {
  return {
    bodyLimit: Number.MAX_SAFE_INTEGER,
    validatorCompiler: (route) =>
      route.httpPart === 'body' || !app.validatorCompiler ? () => true : app.validatorCompiler(route),
  }
}
