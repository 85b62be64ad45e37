import { expect, test } from 'vitest'
import { readableLine } from '../../local/log-lines.ts'

test.each([
  ['{"level":30,"msg":"request"}', undefined],
  ['{"level":40,"msg":"slow"}', '[api] warning: slow'],
  [
    '{"level":50,"msg":"failed","err":{"message":"no\\n answer"},"operation":"threads.create","reqId":"7"}',
    '[api] error: failed: no answer (threads.create 7)',
  ],
  ['{"level":50,"msg":"same","err":{"message":"same"}}', '[api] error: same'],
  ['TypeError: x is not a function', '[api] TypeError: x is not a function'],
  ['{"port":1}', undefined],
  ['   ', undefined],
])('%s', (line, expected) => {
  expect(readableLine('api', line)).toBe(expected)
})
