import { describe, expect, it } from 'vitest'
import { useModelService } from '../support/model-service.ts'
import { slowText } from '../support/slow-text.ts'
import { conversation } from './support.ts'

describe('the text that is slowest to tokenise', () => {
  const service = useModelService({ env: { MODEL_CONTEXT_TOKENS: '3000000' } })

  it("does not block another user's stream", async () => {
    const bystander = await conversation(service)
    const attacker = await conversation(service)
    const gates = Array.from({ length: 20 }, () => Promise.withResolvers<void>())
    service.model.reply({
      when: ({ body }) => JSON.stringify(body.messages).includes('bystander'),
      text: gates.flatMap(({ promise }, index) => [promise, `piece ${index} `]),
    })
    const stream = await bystander.client.fetch('POST', '/runs/stream', bystander.payload('I am the bystander'))
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
    let seen = ''
    const until = async (text: string) => {
      while (!seen.includes(text)) {
        const next = await reader?.read()
        if (next === undefined || next.done) throw new Error(`the stream ended before ${text}`)
        seen += next.value
      }
    }

    // Each another text: the same one would be counted once.
    for (let index = 0; index < 4; index++) {
      const values = [{ type: 'human', content: slowText(1_750_000, index + 1) }]
      await attacker.client.post(`/threads/${attacker.threadId}/state`, { values })
    }
    const { run_id: attack } = await attacker.start('Count this')
    for (const [index, gate] of gates.entries()) {
      const begun = performance.now()
      gate.resolve()
      await until(`piece ${index} `)
      // Counted in the same thread, one of these pieces would wait for a quarter of a minute.
      expect(performance.now() - begun).toBeLessThan(10_000)
    }
    await until('event: end')
    expect(service.model.requests).toHaveLength(1)
    await attacker.client.post(`/runs/${attack}/cancel`, {})
  })
})
