// Before a change: docs/traps.md, Libraries.
import helmet from '@fastify/helmet'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import type { Services } from '../composition/platform.ts'
import type { Health } from '../services/health.ts'
import type { Tracing } from '../services/tracing.ts'
import { installOpenApi } from './openapi/install.ts'
import { installAudit } from './plugins/audit.ts'
import { installAuthentication } from './plugins/authentication.ts'
import { installCacheControl } from './plugins/cache-control.ts'
import {
  type ConnectionLimits,
  answerClientError,
  asksForWebSocket,
  createLimitedServer,
  installWebSockets,
} from './plugins/connections.ts'
import { type ConsoleSettings, installConsole } from './plugins/console.ts'
import { installCors } from './plugins/cors.ts'
import { type ErrorDeps, answerBadUrl, installErrors } from './plugins/errors.ts'
import { installIdempotency } from './plugins/idempotency.ts'
import { installLogging, requestIdOf } from './plugins/logging.ts'
import { type HttpMetrics, installMetrics } from './plugins/metrics.ts'
import { installPathIds } from './plugins/path-ids.ts'
import { installPluginNames } from './plugins/plugin-names.ts'
import { type RateLimitSettings, installRateLimits } from './plugins/rate-limits.ts'
import {
  type BodyTimeouts,
  accountBodyBytes,
  defaultRequestTimeoutSeconds,
  installBodyLimits,
  installBodyTimeouts,
  installJsonBody,
} from './plugins/request-bodies.ts'
import { type NoteProblem, installResponses } from './plugins/responses.ts'
import { installRouteTable, routerOptions } from './plugins/route-table.ts'
import { type StreamLimits, installStreamLimits } from './plugins/stream-limits.ts'
import { installTracing } from './plugins/tracing.ts'
import { createUnreadAnswers } from './plugins/unread-answers.ts'
import { installValidation } from './plugins/validation.ts'
import { adminGroupRoutes } from './routes/admin/groups.ts'
import { adminRoutes } from './routes/admin/index.ts'
import { adminModelRoutes } from './routes/admin/models.ts'
import { adminOperationRoutes } from './routes/admin/operation.ts'
import { adminSearchRoutes } from './routes/admin/search.ts'
import { adminUserRoutes } from './routes/admin/users.ts'
import { assistantFileRoutes } from './routes/assistants/assistant-file.ts'
import { compatAccountRoutes } from './routes/assistants/compat-account.ts'
import { assistantRoutes } from './routes/assistants/index.ts'
import { mcpLoginRoutes } from './routes/assistants/mcp-logins.ts'
import { auditRoutes } from './routes/audit/index.ts'
import { authRoutes } from './routes/auth/index.ts'
import { loginMethodRoutes } from './routes/auth/login-methods.ts'
import { programLoginRoutes } from './routes/auth/program-logins.ts'
import { socialRoutes } from './routes/auth/social.ts'
import { billingRoutes } from './routes/billing/index.ts'
import { budgetRoutes } from './routes/budgets/index.ts'
import { codecRoutes } from './routes/codec/index.ts'
import { deletionRoutes } from './routes/deletion/index.ts'
import { exportRoutes } from './routes/export/index.ts'
import { evaluationRoutes } from './routes/files/evaluation.ts'
import { fileRoutes } from './routes/files/index.ts'
import { ingestionRoutes } from './routes/files/ingestions.ts'
import { passageRoutes } from './routes/files/passages.ts'
import { reembeddingRoutes } from './routes/files/reembedding.ts'
import { folderRoutes } from './routes/folders/index.ts'
import { groupRoutes } from './routes/groups/index.ts'
import { healthRoutes } from './routes/health/index.ts'
import { importRoutes } from './routes/import/index.ts'
import { insightRoutes } from './routes/insights/index.ts'
import { type LocalPageDeps, localPageRoutes } from './routes/local/index.ts'
import { mcpRoutes } from './routes/mcp/index.ts'
import { memoryRoutes } from './routes/memory/index.ts'
import { pictureRoutes } from './routes/pictures/index.ts'
import { projectRoutes } from './routes/projects/index.ts'
import { memberRoutes } from './routes/projects/members.ts'
import { oversightRoutes } from './routes/projects/oversight.ts'
import { promptRoutes, sharedPromptRoutes } from './routes/prompts/index.ts'
import { withoutAlias } from './routes/public/compat-route.ts'
import { publicRoutes } from './routes/public/index.ts'
import { publicPageRoutes } from './routes/public/page.ts'
import { describeRoutes } from './routes/runs/describe.ts'
import { feedbackRoutes } from './routes/runs/feedback.ts'
import { runRoutes } from './routes/runs/index.ts'
import { scheduleChangeRoutes } from './routes/schedules/changes.ts'
import { scheduleRoutes } from './routes/schedules/index.ts'
import { scheduleMailRoutes } from './routes/schedules/mails.ts'
import { scheduleRunRoutes } from './routes/schedules/runs.ts'
import { scimRoutes } from './routes/scim/index.ts'
import { sourceRoutes } from './routes/sources/index.ts'
import { threadAttachmentRoutes } from './routes/threads/attachments.ts'
import { threadDocumentRoutes } from './routes/threads/documents.ts'
import { findRoutes } from './routes/threads/find.ts'
import { threadRoutes } from './routes/threads/index.ts'
import { shareRoutes } from './routes/threads/shares.ts'
import { sideRoutes } from './routes/threads/sides.ts'
import { threadStateRoutes } from './routes/threads/states.ts'
import { toolRoutes } from './routes/tools/index.ts'
import { userRoutes } from './routes/user/index.ts'
import { v1Routes } from './routes/v1/index.ts'
import { installOpenStreams, shutdownOptions } from './sse/event-stream.ts'

interface AppDeps {
  settings: {
    baseUrl: string
    frontendUrl: string
    stagingUrl: string
    corsOrigins: string[]
    shutdownGraceSeconds: number
    maxBodyMb: number
    noteProblem?: NoteProblem
  } & BodyTimeouts &
    ConnectionLimits &
    StreamLimits &
    RateLimitSettings &
    ConsoleSettings &
    LocalPageDeps['settings']
  rateCounter: Parameters<typeof installRateLimits>[2]
  logger: FastifyBaseLogger
  services: Services
  health: Health
  tracing: Pick<Tracing, 'request'>
  localPage: Omit<LocalPageDeps, 'settings'>
  isUnavailable: ErrorDeps['isUnavailable']
  /** Undefined if nothing is measured. */
  metrics?: HttpMetrics | undefined
}

/** Proxies keep connections for a minute. A shorter time here would let them send on a connection that is being closed. */
const keepAliveMs = 72_000

const fixedOptions = {
  ...shutdownOptions,
  routerOptions,
  bodyLimit: accountBodyBytes,
  // On a busy machine the routes take longer than Fastify's ten seconds.
  pluginTimeout: 60_000,
}

/** Creates the HTTP service: plugins and routes in one ordered list. It does not listen. */
export async function buildApp(deps: AppDeps) {
  const { settings } = deps
  const { requestTimeoutSeconds = defaultRequestTimeoutSeconds } = settings
  const unread = createUnreadAnswers(settings)
  const app = Fastify({
    trustProxy: settings.trustProxy,
    serverFactory: (handle) => {
      const options = {
        keepAliveTimeout: keepAliveMs,
        headersTimeout: requestTimeoutSeconds * 1000,
        // Each route has its own limit for the body.
        requestTimeout: 0,
        connectionsCheckingInterval: Math.min(5000, requestTimeoutSeconds * 250),
        shouldUpgradeCallback: asksForWebSocket,
      }
      return createLimitedServer(handle, options, { ...settings, unread })
    },
    clientErrorHandler: answerClientError,
    loggerInstance: deps.logger,
    logController: new LogController({ disableRequestLogging: true }),
    ...fixedOptions,
    rewriteUrl: ({ url }) => withoutAlias(url),
    genReqId: (request) => requestIdOf(request.headers),
    frameworkErrors: answerBadUrl,
  }).withTypeProvider<TypeBoxTypeProvider>()

  installPluginNames(app)
  installLogging(app)
  installMetrics(app, deps.metrics)
  installBodyTimeouts(app, settings)
  installTracing(app, deps.tracing)
  installJsonBody(app)
  installValidation(app)
  installResponses(app, settings.noteProblem)
  await app.register(helmet, { contentSecurityPolicy: false, crossOriginResourcePolicy: { policy: 'cross-origin' } })
  installCacheControl(app)
  installCors(app, settings.corsOrigins)
  installPathIds(app)
  installBodyLimits(app, settings.maxBodyMb * 1024 * 1024)
  const routes = installRouteTable(app)
  const openStreams = installOpenStreams(app, settings)
  await installWebSockets(app, { maxFrameBytes: settings.maxBodyMb * 1024 * 1024 })
  const errors = { routes, isUnavailable: deps.isUnavailable }
  installErrors(app, errors)
  installIdempotency(app, deps.services.idempotency)
  // The scopes of static pages have the hooks that were added before.
  const adminGuesses = await installRateLimits(app, settings, deps.rateCounter)
  await installOpenApi(app, settings)
  const { models } = deps.services
  await installConsole(app, { ...settings, suggests: () => models.current().smallModel !== undefined })
  installAuthentication(app, { ...deps.services, adminGuesses })
  installStreamLimits(app, settings)
  installAudit(app, deps.services.audit)

  await app.register(healthRoutes, { health: deps.health })
  await app.register(authRoutes, { accounts: deps.services.accounts })
  await app.register(programLoginRoutes, { accounts: deps.services.accounts })
  await app.register(socialRoutes, { accounts: deps.services.accounts, baseUrl: settings.baseUrl })
  await app.register(loginMethodRoutes, { accounts: deps.services.accounts, baseUrl: settings.baseUrl })
  await app.register(userRoutes, deps.services)
  await app.register(promptRoutes, deps.services)
  await app.register(sharedPromptRoutes, deps.services)
  await app.register(folderRoutes, deps.services)
  await app.register(pictureRoutes, deps.services)
  await app.register(memoryRoutes, deps.services)
  await app.register(exportRoutes, deps.services)
  await app.register(importRoutes, deps.services)
  await app.register(projectRoutes, deps.services)
  await app.register(memberRoutes, deps.services)
  await app.register(oversightRoutes, deps.services)
  await app.register(groupRoutes, deps.services)
  await app.register(assistantRoutes, deps.services)
  await app.register(assistantFileRoutes, deps.services)
  await app.register(compatAccountRoutes, deps.services)
  await app.register(mcpLoginRoutes, deps.services)
  await app.register(toolRoutes, deps.services)
  await app.register(fileRoutes, { ...deps.services, openStreams })
  await app.register(ingestionRoutes, { ...deps.services, openStreams })
  await app.register(reembeddingRoutes, deps.services)
  await app.register(passageRoutes, deps.services)
  await app.register(evaluationRoutes, deps.services)
  await app.register(insightRoutes, deps.services)
  await app.register(threadRoutes, deps.services)
  await app.register(findRoutes, deps.services)
  await app.register(shareRoutes, { ...deps.services, frontendUrl: settings.frontendUrl })
  await app.register(threadStateRoutes, deps.services)
  await app.register(sideRoutes, deps.services)
  await app.register(threadAttachmentRoutes, deps.services)
  await app.register(threadDocumentRoutes, deps.services)
  await app.register(billingRoutes, deps.services)
  await app.register(auditRoutes, deps.services)
  await app.register(budgetRoutes, deps.services)
  await app.register(deletionRoutes, deps.services)
  await app.register(codecRoutes, deps.services)
  await app.register(adminRoutes, deps.services)
  await app.register(adminUserRoutes, deps.services)
  await app.register(adminGroupRoutes, deps.services)
  await app.register(adminOperationRoutes, deps.services)
  await app.register(adminModelRoutes, deps.services)
  await app.register(adminSearchRoutes, deps.services)
  if (settings.localPage === true) await app.register(localPageRoutes, { settings, ...deps.localPage })
  await app.register(feedbackRoutes, deps.services)
  await app.register(describeRoutes, deps.services)
  await app.register(runRoutes, { ...deps.services, openStreams })
  await app.register(scheduleRoutes, deps.services)
  await app.register(sourceRoutes, deps.services)
  await app.register(scheduleChangeRoutes, deps.services)
  await app.register(scheduleRunRoutes, deps.services)
  await app.register(scheduleMailRoutes, deps.services)
  await app.register(publicRoutes, { ...deps.services, openStreams, errors })
  await app.register(publicPageRoutes, { ...deps.services, settings })
  await app.register(v1Routes, { ...deps.services, openStreams, errors, unread })
  await app.register(scimRoutes, { ...deps.services, errors, baseUrl: settings.baseUrl })
  await app.register(mcpRoutes, { ...deps.services, openStreams, baseUrl: settings.baseUrl })

  return app
}
