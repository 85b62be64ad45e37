import type { Settings } from '../infra/config.ts'
import type { Infra } from '../infra/index.ts'
import type { Logger } from '../infra/logger.ts'
import { createChatModel } from '../infra/model/chat.ts'
import { contextWindowOf } from '../infra/model/context-window.ts'
import { createRunStream } from '../infra/redis/run-stream.ts'
import type { EngineDeps } from '../services/engine/deps.ts'
import { createAccountOf } from '../services/engine/model-account.ts'
import { createRetrieval } from '../services/knowledge/index.ts'
import { createSecretBox } from '../services/secrets.ts'
import { createThreadLog } from '../services/threads/log.ts'
import { createTools } from '../services/tools/index.ts'

/** Of one answer of a model that a user brought: far more than any answer, far less than endless. */
const maxOwnModelBytes = 64 * 1024 * 1024

/** What the steps of a run work with, in this process. */
export function createEngine(settings: Settings, infra: Infra, logger: Logger): EngineDeps {
  const { collections, transaction } = infra.database
  const secretBox = createSecretBox(settings.secretsKey, settings.secretsKeyPrevious)
  const tools = createTools({
    outbound: infra.outbound,
    search: settings,
    retrieval: createRetrieval(collections, infra.knowledge),
  })
  return {
    collections,
    log: createThreadLog({ collections, transaction }),
    stream: createRunStream(infra.redis),
    model: createChatModel({ guardedFetch: infra.outbound.fetchWith({ maxRedirects: 0, maxBytes: maxOwnModelBytes }) }),
    defaultModel: settings.defaultModel,
    accountOf: createAccountOf(settings, secretBox),
    async toolsOf(assistant, signal) {
      const resolved = await tools.resolve(assistant, signal)
      for (const problem of resolved.problems)
        logger.warn({ assistant_id: assistant._id, ...problem }, 'a tool cannot be used')
      return resolved.tools
    },
    contextWindowOf: (model) => contextWindowOf(model, settings.modelContextTokens),
    tracing: infra.tracing,
    onError: (error) => logger.warn({ err: error }, 'a run stream is in trouble'),
  }
}
