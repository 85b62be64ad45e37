import { afterAll, beforeAll } from 'vitest'
import { eventually } from './eventually.ts'
import { type ModelService, startModelService } from './model-service.ts'
import type { Respond } from './scripted-model.ts'

/** A service that tests use and do not end. */
export type SharedService = Omit<ModelService, 'close'>

/** Tools may call servers of the tests, and vectors are short. */
const env = { OUTBOUND_ALLOW: '127.0.0.1', EMBEDDING_DIMENSIONS: '256', CRAWL_PAUSE_MS: '0' }

let running: Promise<ModelService> | undefined
let isTaken = false

/**
 * The one service of this process, with API, worker and a scripted model, for all tests of the file or the `describe`
 * that calls this. A start takes half a second of processor time, so it stays for the next files and ends with the process.
 * Tests are kept apart by their users: each makes all that it looks at, and counts only what is its own. The model
 * begins anew for each caller. A test that needs settings, an empty database or the end of a process starts a service
 * of its own (`useModelService`, `startService`).
 */
export function useSharedService({ respond }: { respond?: Respond } = {}): SharedService {
  const service = {} as SharedService
  beforeAll(async () => {
    if (isTaken) throw new Error('this file uses the shared service already: use it once, outside of the describes')
    running ??= startModelService({ env })
    const { close: _, ...shared } = await running
    isTaken = true
    shared.model.startAgain(respond)
    Object.assign(service, shared)
  })
  afterAll(async () => {
    isTaken = false
    await leave()
  })
  return service
}

/** Throws when the tests left runs behind, which would ask the model of the next file; that one gets a new service. */
async function leave(): Promise<void> {
  const service = await running
  if (service === undefined) return
  try {
    const { runs } = service.collections
    await eventually(
      'the end of all runs, because other files use the same service',
      async () => (await runs.countDocuments({ status: { $in: ['pending', 'running'] } })) === 0,
    )
    service.model.checkScript()
    service.checkShardKeys()
  } catch (error) {
    running = undefined
    await service.close().catch(() => undefined)
    throw error
  }
}
