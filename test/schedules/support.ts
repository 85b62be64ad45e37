import { eventually } from '../support/eventually.ts'
import type { RunningService } from '../support/service.ts'
import { insertUser } from '../support/users.ts'

/** A user with an assistant, and the words by which the tests make and watch schedules. */
export async function planner(service: RunningService, config: object = {}) {
  const client = await insertUser(service)
  const { assistant_id: assistantId } = await client.post('/assistants/', { name: 'Planner', config })
  const payload = (timing: object) => ({
    assistant_id: assistantId,
    input: [{ type: 'human', content: 'What is new?' }],
    ...timing,
  })
  const runsOf = async (scheduleId: string): Promise<any[]> =>
    (await client.get(`/schedules/${scheduleId}/runs?limit=1000`)).runs
  return {
    client,
    assistantId,
    payload,
    create: (timing: object) => client.post('/schedules/', payload(timing)),
    runsOf,
    /** The runs of a schedule, when there are `count` and all have ended. */
    ended: (scheduleId: string, count: number, limitMs?: number) =>
      eventually(
        `${count} ended runs`,
        async () => {
          const runs = await runsOf(scheduleId)
          return runs.length >= count && runs.every((run) => run.finished_at !== null) && runs
        },
        limitMs,
      ),
  }
}

/** In so many seconds, as the API takes times. */
export const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()

/** On the morning that tests backfill, so that none of the times comes while a test runs. */
export const everyTenMinutes = '*/10 10-12 1 3 *'

/** Lets the schedule at Temporal take the times of an earlier period, as if it had been due then. */
export async function backfill(service: RunningService, scheduleId: string, start: Date, end: Date) {
  await service.temporal.schedule.getHandle(`schedule/${scheduleId}`).backfill({ start, end, overlap: 'BUFFER_ALL' })
}
