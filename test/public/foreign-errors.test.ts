import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { ModelFailure } from '../../domain/model-failure.ts'
import { publicRunError } from '../../domain/public-run-error.ts'
import { failureOf } from '../../infra/model/failures.ts'
import { refusalOf } from '../../services/public/run-failure.ts'
import { apiClient } from '../support/api-client.ts'
import { useSharedService } from '../support/shared-service.ts'
import { allEvents } from '../support/sse.ts'
import { newPublicAssistant } from './public-assistant.ts'

const words = 'Deployment tiger-7 of ACME has no such parameter'
/** What a provider says of itself: its words, and what it calls its error. */
const foreign = /tiger-7|ACME|scripted_error/

describe("a provider's error messages", () => {
  const service = useSharedService({ respond: () => ({ status: 400, errorMessage: words }) })
  const base = '/public/compat/v1'

  it('are shown to the owner only, on the native stream', async () => {
    const { id, token, owner } = await newPublicAssistant(service)
    const stranger = apiClient(service.url, token)
    const input = [{ type: 'human', content: 'Hi' }]
    const events = await allEvents(await stranger.fetch('POST', '/public/runs/stream', { assistant_id: id, input }))
    const { run_id: runId } = JSON.parse(events.find(({ event }) => event === 'metadata')?.data ?? '')
    const joined = await allEvents(await stranger.fetch('GET', `/public/runs/${runId}/stream`))
    for (const stream of [events, joined]) {
      expect(JSON.stringify(stream)).not.toMatch(foreign)
      expect(JSON.parse(stream.at(-1)?.data ?? '')).toEqual({
        status_code: 400,
        message: 'The model refused the request.',
        type: 'model_refused_request',
        details: '',
      })
    }
    const own = await owner.get(`/runs/${runId}`)
    expect(own.error).toMatchObject({ type: 'model_refused_request', details: expect.stringContaining(words) })
    const ownEvents = await allEvents(await owner.fetch('GET', `/runs/${runId}/stream`))
    expect(ownEvents.at(-1)?.data).toContain(words)
  })

  it("are not shown by the compat family, whose errors have the service's codes", async () => {
    const { id, token } = await newPublicAssistant(service)
    const stranger = apiClient(service.url, token)
    const client = new OpenAI({ baseURL: `${service.url}${base}`, apiKey: token, maxRetries: 0 })
    const chat = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
    const refused = await stranger.post(`${base}/chat/completions`, chat, 400)
    expect(refused.error).toEqual({
      message: 'The model refused the request.',
      type: 'invalid_request_error',
      param: null,
      code: 'model_refused_request',
    })
    const streamed = await allEvents(
      await stranger.fetch('POST', `${base}/chat/completions`, { ...chat, stream: true }),
    )
    expect(JSON.parse(streamed.at(-1)?.data ?? '').error).toEqual(refused.error)

    const thread = await client.beta.threads.create({ messages: [{ role: 'user', content: 'Hi' }] })
    const run = await client.beta.threads.runs.createAndPoll(thread.id, { assistant_id: id }, { pollIntervalMs: 50 })
    expect(run.last_error).toEqual({ code: 'invalid_prompt', message: 'The model refused the request.' })
    const runEvents = await allEvents(
      await stranger.fetch('POST', `${base}/threads/${thread.id}/runs`, { assistant_id: id, stream: true }),
    )
    const stored = [
      await stranger.get(`${base}/threads/${thread.id}/runs`),
      await stranger.get(`${base}/threads/${thread.id}/runs/${run.id}/steps`),
      await stranger.get(`${base}/threads/${thread.id}/messages`),
    ]
    expect(JSON.stringify([refused, streamed, run, runEvents, stored])).not.toMatch(foreign)
  })

  it.each([
    [400, undefined, 400, 'model_refused_request'],
    [401, undefined, 502, 'model_credentials_refused'],
    [402, undefined, 503, 'model_quota_exceeded'],
    [404, 'model_not_found', 502, 'model_not_found'],
    [404, undefined, 502, 'model_error'],
    [422, undefined, 400, 'model_refused_request'],
    [429, undefined, 429, 'model_busy'],
    [429, 'insufficient_quota', 503, 'model_quota_exceeded'],
    [500, undefined, 502, 'model_error'],
    [529, undefined, 502, 'model_error'],
    [400, 'context_length_exceeded', 400, 'context_length_exceeded'],
  ])('with status %i (%s) become %i %s', (status, code, toStatus, shownType) => {
    const body = { message: words, type: 'invalid_request_error', code }
    const failure = failureOf(OpenAI.APIError.generate(status, { error: body }, words, new Headers()), 'key')
    if (!(failure instanceof ModelFailure)) throw new Error('no model failure')
    const error = { status_code: failure.statusCode, message: failure.message, type: failure.type, details: words }
    const shown = publicRunError(error)
    expect(shown).toMatchObject({ status_code: toStatus, type: shownType, details: '' })
    expect(refusalOf(error).status).toBe(toStatus)
    expect(JSON.stringify([shown, refusalOf(error).message])).not.toContain('tiger-7')
  })

  it('are not shown for runs that were stored with a type of the provider', () => {
    const old = { status_code: 400, message: words, type: 'invalid_request_error', details: words }
    const shown = { status_code: 500, message: 'The run failed.', type: 'internal_error', details: '' }
    expect(publicRunError(old)).toEqual(shown)
    expect(publicRunError({ ...old, type: 'internal' })).toEqual(shown)
    expect(publicRunError({ ...old, type: 'unauthenticated', status_code: 401 })).toEqual(shown)
    expect(publicRunError({ ...old, status_code: 503 })).toEqual({ ...shown, status_code: 503 })
  })
})
