import type { PublicFamily } from '../../../services/public/index.ts'
import { compatRefusals } from '../../plugins/compat-errors.ts'
import { TokenHeader, assistantOf } from './caller.ts'
import { citedWithin, toCompatMessage, toCompatRun, toCompatThread } from './compat-objects.ts'
import { compatConfig, operation } from './compat-route.ts'
import type { ThreadFamily } from './thread-routes.ts'
import { CompatMessage, CompatRun, CompatRunStep, CompatThread, ListQuery } from './thread-schemas.ts'

/** The assistants interface for callers without an account: the threads of the token's assistant. */
export function publicThreadFamily(
  publicFamily: PublicFamily,
): ThreadFamily<typeof CompatThread, typeof CompatMessage, typeof CompatRun, typeof CompatRunStep> {
  const { threads } = publicFamily
  return {
    config: compatConfig,
    declare: (name, summary) => ({ ...operation(name, summary), headers: TokenHeader }),
    refusals: compatRefusals,
    prefix: 'Compat',
    schemas: { thread: CompatThread, message: CompatMessage, run: CompatRun, step: CompatRunStep },
    stepQueries: { list: ListQuery, one: {} },
    find: { ...threads, owner: assistantOf },
    show: {
      thread: toCompatThread,
      async messages(request, threadId, all, wanted) {
        const { _id: assistantId } = assistantOf(request)
        const cited = citedWithin(all, wanted)
        return wanted.map((entry) => toCompatMessage(entry, { threadId, assistantId }, cited(entry)))
      },
      async runs(request, runs) {
        const about = publicFamily.about(assistantOf(request))
        return runs.map((run) => toCompatRun(run, about))
      },
      step: (_request, step) => step,
    },
    async cancel(request, { thread_id: threadId, run_id: runId }) {
      const assistant = assistantOf(request)
      const run = await publicFamily.cancel(await threads.findRun(assistant, threadId, runId))
      return toCompatRun(run, publicFamily.about(assistant))
    },
  }
}
