import type { RunningService } from '../support/service.ts'
import { allEvents } from '../support/sse.ts'
import { insertUser } from '../support/users.ts'

/** A user with an assistant and a thread, ready to run. */
export async function conversation(service: RunningService, config: object = {}) {
  const client = await insertUser(service)
  const { assistant_id: assistantId } = await client.post('/assistants/', { name: 'Helper', config })
  const { thread_id: threadId } = await client.post('/threads/', { name: 'Talk' })
  const payload = (content: string, more: object = {}) => ({
    thread_id: threadId,
    assistant_id: assistantId,
    input: [{ type: 'human' as const, content }],
    ...more,
  })
  return {
    client,
    assistantId,
    threadId,
    payload,
    /** Starts a streamed run and reads it to its end. */
    async stream(content: string, more: object = {}) {
      return readRun(await client.fetch('POST', '/runs/stream', payload(content, more)))
    },
    start: (content: string, more: object = {}) => client.post('/runs/', payload(content, more)),
    join: async (runId: string, lastEventId?: string) =>
      readRun(
        await client.fetch(
          'GET',
          `/runs/${runId}/stream`,
          undefined,
          lastEventId ? { 'last-event-id': lastEventId } : {},
        ),
      ),
    messages: async (): Promise<any[]> => (await client.get(`/threads/${threadId}/state`)).values.messages,
  }
}

/** A run's stream, read to the end: the events, each state of its messages, and how it ended. */
export async function readRun(response: Response) {
  const events = await allEvents(response)
  const states: any[][] = events.filter(({ event }) => event === 'data').map(({ data }) => JSON.parse(data))
  const messages = new Map<string, any>()
  for (const message of states.flat()) messages.set(message.data.id, message)
  const last = events.at(-1)
  const metadata = events.find(({ event }) => event === 'metadata')
  return {
    status: response.status,
    events,
    states,
    messages: [...messages.values()],
    runId: metadata ? String(JSON.parse(metadata.data).run_id) : '',
    end: last?.event,
    error: last?.event === 'error' ? JSON.parse(last.data) : undefined,
  }
}
