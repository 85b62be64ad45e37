import type { Settings } from '../infra/config.ts'
import type { Infra } from '../infra/index.ts'
import type { Logger } from '../infra/logger.ts'
import { createChatModel } from '../infra/model/chat.ts'
import { createRunStream } from '../infra/redis/run-stream.ts'
import type { EngineDeps } from '../services/engine/deps.ts'
import { createAccountOf } from '../services/engine/model-account.ts'
import { createThreadLog } from '../services/threads/log.ts'

/** What the steps of a run work with, in this process. */
export function createEngine(settings: Settings, infra: Infra, logger: Logger): EngineDeps {
  const { collections, transaction } = infra.database
  return {
    collections,
    log: createThreadLog({ collections, transaction }),
    stream: createRunStream(infra.redis),
    model: createChatModel({ guardedFetch: fetch }),
    defaultModel: settings.defaultModel,
    accountOf: createAccountOf(settings),
    toolsOf: async () => [],
    fit: (messages) => messages,
    onError: (error) => logger.warn({ err: error }, 'a run stream is in trouble'),
  }
}
