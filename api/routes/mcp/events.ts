import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { EventStream } from '../../sse/event-stream.ts'
import { type Position, eventIdOf } from './event-id.ts'

/** The messages of one answer as events. Those of a run have ids with which any process goes on. */
export function createMcpEvents(
  stream: EventStream,
  answer: { run: string | undefined } & Omit<Position, 'run' | 'progress'>,
  from = 0,
) {
  let progress = from
  const id = () => {
    const { run } = answer
    return run === undefined ? {} : { id: eventIdOf({ ...answer, run, progress }) }
  }
  const send = (message: JSONRPCMessage): void => void stream.send({ ...id(), data: JSON.stringify(message) })
  return {
    send,
    /** An event without data, from which the client can go on before there is any progress. */
    prime: (): void => void stream.send({ ...id(), data: '' }),
    /** Nobody is told who has not asked for it. Progress grows, also for a client that came back. */
    progress(reached: number, message: string): void {
      if (answer.token === undefined || reached <= progress) return
      progress = reached
      const params = { progressToken: answer.token, progress, message }
      send({ jsonrpc: '2.0', method: 'notifications/progress', params })
    },
  }
}
