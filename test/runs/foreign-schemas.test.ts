import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startRawMcpServer } from '../support/mcp-server.ts'
import { useSharedService } from '../support/shared-service.ts'
import { conversation } from './support.ts'

const worst = `${'a'.repeat(40)}!`

describe('a tool with a schema that takes exponential time', () => {
  const service = useSharedService()
  let server: Awaited<ReturnType<typeof startRawMcpServer>>
  beforeAll(async () => {
    const pattern = '^(a+)+$'
    server = await startRawMcpServer([
      { name: 'linear', inputSchema: { type: 'object', properties: { text: { type: 'string', pattern } } } },
      { name: 'unknowable', inputSchema: { type: 'object', properties: { text: { pattern: `(?=a)${pattern}` } } } },
      {
        name: 'exponential',
        inputSchema: {
          type: 'object',
          $defs: Object.fromEntries(
            Array.from({ length: 40 }, (_, level) => [
              `d${level}`,
              level === 39 ? { required: ['no'] } : { anyOf: [ref(level + 1), ref(level + 1)] },
            ]),
          ),
          $ref: '#/$defs/d0',
        },
      },
    ])
  })
  afterAll(() => server.close())

  it("does not block another user's run, and its own run continues", async () => {
    const attacker = await conversation(service, {
      'type==agent/tools': [{ type: 'mcp', config: { name: 'x', url: server.url } }],
    })
    const bystander = await conversation(service)
    const isAttack = ({ body }: { body: object }) => JSON.stringify(body).includes('attack')
    const calls = ['linear', 'unknowable', 'exponential'].map((name) => ({
      name: `x_${name}`,
      arguments: { text: worst },
    }))
    const asked = service.model.reply({ when: isAttack, toolCalls: calls })
    service.model.reply({ when: isAttack, text: 'Done.' })
    const attack = attacker.stream('attack')
    await asked.ended
    service.model.reply({ text: ['I ', 'go ', 'on.'] })
    const begun = performance.now()
    expect((await bystander.stream('Hello')).messages.at(-1).data.content).toBe('I go on.')
    // In JavaScript's own expressions each of these checks takes hours.
    expect(performance.now() - begun).toBeLessThan(20_000)

    expect((await attack).end).toBe('end')
    const answers = (await attacker.messages()).filter(({ type }) => type === 'ToolMessage')
    expect(answers.map(({ data }) => data.content)).toEqual([
      expect.stringContaining('The call was not made: the arguments do not match'),
      'ok',
      'ok',
    ])
    expect(server.calls).toHaveLength(2)
  })
})

function ref(level: number) {
  return { $ref: `#/$defs/d${level}` }
}
