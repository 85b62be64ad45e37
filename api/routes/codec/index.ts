import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { AnyKey } from '../../../domain/any-key.ts'
import { bearerOf } from '../../plugins/bearer-token.ts'
import { answerPreflight } from '../../plugins/cors.ts'
import { refusals } from '../schemas.ts'

const Payloads = Type.Object(
  {
    payloads: Type.Array(
      Type.Object({
        metadata: Type.Optional(Type.Record(AnyKey, Type.String({ maxLength: 64 * 1024 }), { maxProperties: 100 })),
        data: Type.Optional(Type.String({ maxLength: 16 * 1024 * 1024, description: 'base64' })),
      }),
      { maxItems: 10_000 },
    ),
  },
  { title: 'CodecPayloads', about: 'Payloads in the JSON form of the Temporal API.' },
)

/**
 * The remote data encoder of the Temporal UI and CLI (https://docs.temporal.io/remote-data-encoding). The token is
 * sent as a bearer token or in the path, because the UI can only append `/decode` to the address.
 */
export const codecRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'codec'>> = async (app, { codec }) => {
  const config = {
    auth: 'codec',
    cors: {
      origins: codec.uiOrigins,
      methods: 'POST',
      allowsHeader: (name: string) => ['content-type', 'x-namespace', 'authorization'].includes(name),
    },
  } as const

  // Checked before the body is read, because the body may be large.
  app.addHook('onRequest', async (request) => {
    if (request.method !== 'OPTIONS') codec.admit(tokenInPath(request.params) ?? bearerOf(request))
  })

  for (const direction of ['decode', 'encode'] as const) {
    const schema = {
      summary:
        direction === 'decode' ? 'Payloads in readable form, for the Temporal UI' : 'Payloads as Temporal stores them',
      tags: ['operations'],
      body: Payloads,
      response: { 200: Payloads, ...refusals(400, 401, 404) },
    }
    app.post(
      `/codec/${direction}`,
      { config, schema: { ...schema, operationId: `codec.${direction}` } },
      async (request) => ({
        payloads: await codec.convert(direction, request.body.payloads),
      }),
    )

    const params = Type.Object({ token: Type.String({ maxLength: 500 }) })
    const inPath = { ...schema, params, operationId: `codec.${direction}WithToken` }
    app.post(`/codec/:token/${direction}`, { config, schema: inPath }, async (request) => ({
      payloads: await codec.convert(direction, request.body.payloads),
    }))
  }
  for (const url of ['/codec/decode', '/codec/encode', '/codec/:token/decode', '/codec/:token/encode']) {
    app.options(url, { config, schema: { hide: true } }, (request, reply) =>
      answerPreflight(request, reply, config.cors),
    )
  }
}

function tokenInPath(params: unknown): string | undefined {
  if (typeof params !== 'object' || params === null || !('token' in params)) return undefined
  return typeof params.token === 'string' ? params.token : undefined
}
