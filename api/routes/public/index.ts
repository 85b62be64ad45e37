import type { FastifyPluginAsync, FastifyInstance } from 'fastify'
import { prepareGiven } from '../../plugins/given-members.ts'
import { installValidation } from '../../plugins/validation.ts'
import { compatErrors } from '../../plugins/compat-errors.ts'
import { type ErrorDeps, installErrors } from '../../plugins/errors.ts'
import { type PublicCors, createPublicCors } from '../../plugins/cors.ts'
import { publicAssistantRoutes } from './assistants.ts'
import { installCaller } from './caller.ts'
import { chatRoutes } from './chat.ts'
import { type CompatDeps, type Family, compatConfig, families, operation } from './compat-route.ts'
import { textCompletionRoutes } from './completions.ts'
import { publicNativeRoutes } from './native.ts'
import { publicRunRoutes } from './runs.ts'
import { publicThreadRoutes } from './threads.ts'

type Deps = Omit<CompatDeps, 'family'> & { errors: ErrorDeps }

/** Everything under `/public`: the native stream, and the compat family under both of its prefixes. */
export const publicRoutes: FastifyPluginAsync<Deps> = async (app, { publicFamily, openStreams, errors }) => {
  const cors = createPublicCors(publicFamily.origins)

  await app.register(async (native) => {
    answerPreflights(native, cors)
    await native.register(publicNativeRoutes, { publicFamily, openStreams, cors })
  })

  for (const [family, prefix] of [
    ['compat', families.compat],
    ['public', families.public],
  ] as const) {
    await app.register(
      async (compat) => {
        const deps = { publicFamily, openStreams, family }
        installCaller(compat, { publicFamily, cors })
        installErrors(compat, errors, compatErrors)
        installValidation(compat, (schema, body) => prepareGiven(schema, body, {}))
        answerPreflights(compat, cors, family)
        await compat.register(chatRoutes, deps)
        await compat.register(textCompletionRoutes, deps)
        await compat.register(publicAssistantRoutes, deps)
        await compat.register(publicThreadRoutes, deps)
        await compat.register(publicRunRoutes, deps)
      },
      { prefix },
    )
  }
}

/** Adds a preflight to every path that is registered from here on. */
function answerPreflights(app: FastifyInstance, cors: PublicCors, family?: Family): void {
  const answered = new Set<string>()
  app.addHook('onRoute', (route) => {
    if (route.method === 'OPTIONS' || answered.has(route.url)) return
    answered.add(route.url)
    const url = route.url.slice(app.prefix.length)
    const name = `preflight.${url.match(/[a-z_]+/g)?.join('.')}`
    app.route({
      method: 'OPTIONS',
      url,
      config: compatConfig,
      schema: family === undefined ? { hide: true } : operation(family, name, 'Cross-origin preflight'),
      handler: (request, reply) => cors.preflight(request, reply),
    })
  })
}
