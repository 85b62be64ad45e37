import { expect } from 'vitest'
import { newId } from '../../domain/ids.ts'
import type { conversation } from '../runs/support.ts'
import type { SharedService } from '../support/shared-service.ts'

export const withMemory = (config?: object) => ({
  'type==agent/tools': [{ type: 'memory', ...(config && { config }) }],
})

export type Talk = Awaited<ReturnType<typeof conversation>>
export type MemoryService = Pick<SharedService, 'model' | 'url'>

/** An answer that calls the tool with these arguments. */
export const call = (...args: object[]) => ({
  toolCalls: args.map((one) => ({ id: newId(), name: 'memory', arguments: one })),
})

/** What the newest request told the model about facts before the conversation; undefined: nothing. */
export function recalled({ model }: MemoryService): string | undefined {
  const messages = model.requests.at(-1)?.body.messages ?? []
  const system = messages.filter(({ role }: any) => role === 'system').map(({ content }: any) => String(content))
  // Several system messages are sent as one, with an empty line between them.
  return system.flatMap((text) => text.split('\n\n')).find((text) => text.includes('<memory_facts>'))
}

/** The facts between the marks. */
export function factsIn(text: string | undefined): { memory_id: string; text: string }[] {
  const lines = (text ?? '').split('\n')
  const [begin, end] = [lines.indexOf('<memory_facts>'), lines.indexOf('</memory_facts>')]
  if (text !== undefined) expect(begin).toBeGreaterThanOrEqual(0)
  return lines.slice(begin + 1, Math.max(0, end)).map((line) => JSON.parse(line))
}

/** Lets the model call the tool in this conversation; what it is told. */
export async function told({ model }: MemoryService, talk: Talk, ...args: object[]): Promise<string[]> {
  model.reply(call(...args))
  model.reply({ text: 'Done.' })
  const run = await talk.stream('Please')
  expect(run.end).toBe('end')
  return run.messages.filter(({ type }) => type === 'ToolMessage').map(({ data }) => String(data.content))
}

/** Asks in a new thread; the facts that the model was given with the question. */
export async function factsFor(service: MemoryService, talk: Talk, question: string): Promise<string[]> {
  const { thread_id } = await talk.client.post('/threads/', { name: 'Another' })
  service.model.reply({ text: 'Hello.' })
  expect((await talk.stream(question, { thread_id })).end).toBe('end')
  return factsIn(recalled(service)).map(({ text }) => text)
}
