import type { FastifyPluginAsync, FastifyInstance } from 'fastify'
import type { Services } from '../../../composition/platform.ts'
import { compatErrors } from '../../plugins/compat-errors.ts'
import { type PublicCors, createPublicCors } from '../../plugins/cors.ts'
import { type ErrorDeps, installErrors } from '../../plugins/errors.ts'
import { prepareGiven } from '../../plugins/given-members.ts'
import { installValidation } from '../../plugins/validation.ts'
import { publicAssistantRoutes } from './assistants.ts'
import { installCaller } from './caller.ts'
import { chatRoutes, textCompletionRoutes } from './chat.ts'
import { type CompatDeps, compatConfig, compatPrefix, operation } from './compat-route.ts'
import { publicNativeRoutes } from './native.ts'
import { publicRunRoutes } from './runs.ts'
import { publicThreadRoutes } from './threads.ts'

type Deps = CompatDeps & {
  errors: ErrorDeps
  feedback: Pick<Services['feedback'], 'submitOfVisitor'>
}

/** Everything under `/public`: the native stream, and the compat family. */
export const publicRoutes: FastifyPluginAsync<Deps> = async (app, { publicFamily, openStreams, errors, feedback }) => {
  const cors = createPublicCors(publicFamily.origins)

  await app.register(async (native) => {
    answerPreflights(native, cors, { isShown: false })
    await native.register(publicNativeRoutes, { publicFamily, openStreams, cors, feedback })
  })

  await app.register(
    async (compat) => {
      const deps = { publicFamily, openStreams }
      installCaller(compat, { publicFamily, cors })
      installErrors(compat, errors, compatErrors)
      installValidation(compat, (schema, body) => prepareGiven(schema, body, {}))
      answerPreflights(compat, cors, { isShown: true })
      await compat.register(chatRoutes, deps)
      await compat.register(textCompletionRoutes, deps)
      await compat.register(publicAssistantRoutes, deps)
      await compat.register(publicThreadRoutes, deps)
      await compat.register(publicRunRoutes, deps)
    },
    { prefix: compatPrefix },
  )
}

/** Adds a preflight to every path that is registered from here on. */
function answerPreflights(app: FastifyInstance, cors: PublicCors, { isShown }: { isShown: boolean }): void {
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
      schema: isShown ? operation(name, 'Cross-origin preflight') : { hide: true },
      handler: (request, reply) => cors.preflight(request, reply),
    })
  })
}
