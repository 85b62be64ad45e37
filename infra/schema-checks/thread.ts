import { parentPort } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { RE2JS } from 're2js'
import { parseOwnJson } from '../../domain/json.ts'
import { type ArgumentCheck, argumentCheck } from '../../domain/tool-arguments.ts'
import type { CheckAnswer, CheckJob } from './messages.ts'

const known = new LRUCache<string, { check: ArgumentCheck | undefined }>({ max: 100 })

/**
 * Regular expressions in linear time (RE2). A schema with an expression that only JavaScript supports (lookarounds,
 * back references) cannot be used.
 */
const linear = Object.assign((pattern: string) => RE2JS.compile(RE2JS.translateRegExp(pattern)), {
  code: 'linear',
})

parentPort?.on('message', ({ schemaJson, argsJson }: CheckJob) => {
  say({ problem: checkOf(schemaJson)?.(parseOwnJson<Record<string, unknown>>(argsJson)) })
})
say('ready')

function checkOf(schemaJson: string): ArgumentCheck | undefined {
  const found = known.get(schemaJson) ?? { check: argumentCheck(parseOwnJson<object>(schemaJson), linear) }
  known.set(schemaJson, found)
  return found.check
}

function say(answer: CheckAnswer): void {
  parentPort?.postMessage(answer)
}
