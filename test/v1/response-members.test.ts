import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { readRequest } from '../../api/routes/v1/responses/read-request.ts'
import { ResponseCreateRequest } from '../../api/routes/v1/responses/request-schemas.ts'
import { withoutEffect } from '../../api/routes/v1/without-effect.ts'

/**
 * The members of the `openai` package's `ResponseCreateParams`, and what becomes of each. One `without effect` concerns
 * neither the answer nor its events' contents; one that is `refused` is refused by its name. One that a newer package
 * has must be added here.
 */
const members: Record<string, 'works' | 'without effect' | 'refused'> = {
  access_programs: 'without effect',
  background: 'works',
  context_management: 'works',
  conversation: 'works',
  image: 'without effect',
  include: 'works',
  input: 'works',
  instructions: 'works',
  max_output_tokens: 'works',
  max_tool_calls: 'works',
  metadata: 'works',
  model: 'works',
  moderation: 'refused',
  parallel_tool_calls: 'works',
  previous_response_id: 'works',
  prompt: 'refused',
  prompt_cache_key: 'works',
  prompt_cache_options: 'without effect',
  prompt_cache_retention: 'without effect',
  reasoning: 'works',
  safety_identifier: 'works',
  service_tier: 'works',
  store: 'works',
  stream: 'works',
  stream_options: 'without effect',
  temperature: 'works',
  text: 'works',
  tool_choice: 'works',
  tools: 'works',
  top_logprobs: 'works',
  top_p: 'works',
  truncation: 'works',
  user: 'works',
}

test('every member of a request for a response is known', () => {
  const types = path('openai/resources/responses/responses.d.ts')
  const [, base = ''] =
    /export interface ResponseCreateParamsBase \{\n([\s\S]*?)\n\}/.exec(readFileSync(types, 'utf8')) ?? []
  const names = [...base.matchAll(/^ {4}(\w+)\??:/gm)].map(([, name = '']) => name)
  expect(names.toSorted()).toEqual(Object.keys(members).toSorted())
  const listed = Object.keys(withoutEffect['V1ResponseCreateRequest'] ?? {})
  const taken = new Set([...Object.keys(ResponseCreateRequest.properties), ...listed])
  // Codex sends one that the package does not have, Open Responses has the penalties of chat completions, and the beta of
  // the interface several agents.
  const others = new Set(['client_metadata', 'frequency_penalty', 'multi_agent', 'presence_penalty'])
  expect([...taken].filter((name) => !others.has(name)).toSorted()).toEqual(names.toSorted())
})

test.each(Object.keys(members).filter((name) => members[name] === 'refused'))('%s is refused by its name', (name) => {
  const body = { model: 'any', input: 'Hi', [name]: name === 'top_logprobs' ? 1 : {} }
  expect(() => readRequest(body, { userId: 'u', projectId: 'p' })).toThrow(
    expect.objectContaining({ fields: [expect.objectContaining({ loc: ['body', name], type: 'unsupported' })] }),
  )
})

test('several agents are refused by their name, unless they are off', () => {
  const caller = { userId: 'u', projectId: 'p' }
  const asked = (several: unknown) => readRequest({ model: 'any', input: 'Hi', multi_agent: several }, caller)
  for (const off of [null, { enabled: false }]) expect(asked(off).model).toBe('any')
  for (const on of [{}, { enabled: true }, 'on'])
    expect(() => asked(on)).toThrow(
      expect.objectContaining({
        fields: [expect.objectContaining({ loc: ['body', 'multi_agent'], type: 'unsupported' })],
      }),
    )
})

function path(name: string): string {
  return createRequire(import.meta.url)
    .resolve(name.replace(/\.d\.ts$/, '.js'))
    .replace(/\.js$/, '.d.ts')
}
