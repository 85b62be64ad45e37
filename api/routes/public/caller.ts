import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { AppError } from '../../../domain/errors.ts'
import type { AssistantRecord } from '../../../domain/records/assistant.ts'
import type { PublicFamily } from '../../../services/public/index.ts'
import { bearerOf } from '../../plugins/bearer-token.ts'
import type { PublicCors } from '../../plugins/cors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The assistant that the caller's token selects, on routes of the compat family. */
    publicAssistant: AssistantRecord | null
  }
}

export const TokenHeader = Type.Object({
  'x-public-bot-token': Type.Optional(
    Type.String({ maxLength: 1000, description: "The assistant's public token, if it is not the bearer token." }),
  ),
})

/** The tokens in the headers of a request. */
export function tokensOf(request: Pick<FastifyRequest, 'headers'>): string[] {
  const header = request.headers['x-public-bot-token']
  return [bearerOf(request), ...[header].flat()].flatMap((token) => (token ? [token] : []))
}

/** The caller is identified, or refused, before anything else of the request is read. */
export function installCaller(
  app: FastifyInstance,
  { publicFamily: { access }, cors }: { publicFamily: PublicFamily; cors: PublicCors },
) {
  app.decorateRequest('publicAssistant', null)
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404 || request.method === 'OPTIONS') return
    request.publicAssistant = await cors.admit(request, reply, () => access.byToken(tokensOf(request)))
  })
}

/** The caller's assistant on a route of the compat family. */
export function assistantOf(request: FastifyRequest): AssistantRecord {
  if (request.publicAssistant === null) throw new AppError('unauthenticated', 'A public token is required.')
  return request.publicAssistant
}

/** As `assistantOf`, for a request that also names an assistant: any other than the token's is `not_found`. */
export function namedAssistantOf(request: FastifyRequest, assistantId: string): AssistantRecord {
  const assistant = assistantOf(request)
  if (assistant._id !== assistantId) throw new AppError('not_found', 'There is no such assistant.')
  return assistant
}
