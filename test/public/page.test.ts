import { expect, it } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'

const service = useSharedService({ respond: () => ({ text: 'Hello.' }) })

const look = { title: 'Ask <us> & "them"', greeting: 'Good day!', color: '#0f766e', theme: 'dark', language: 'de' }
const open = {
  'type==agent/access_mode': 'public_no_auth',
  'type==agent/public_page': true,
  'type==agent/chat_look': look,
  'type==agent/system_message': 'The secret instructions',
  'type==agent/description': 'About the harbour',
  'type==agent/starters': ['A|B?'],
}

async function newAssistant(config: object) {
  const owner = await insertUser(service)
  const { assistant_id: id } = await owner.post('/assistants/', { name: 'Harbour guide', config })
  return { owner, id: String(id) }
}

async function read(id: string) {
  const response = await fetch(`${service.url}/a/${id}`)
  return { response, status: response.status, html: await response.text() }
}

it('an assistant has a page when its owner switches it on, without secrets and with a policy', async () => {
  const { owner, id } = await newAssistant(open)
  const { response, html } = await read(id)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('referrer-policy')).toBe('no-referrer')
  const policy = response.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'; script-src 'self'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toContain('unsafe')
  expect(html).toContain('<title>Ask &lt;us&gt; &amp; &quot;them&quot;</title>')
  expect(html).toContain('<meta property="og:description" content="About the harbour" />')
  expect(html).toContain(`/a/${id}" />`)
  expect(html).toContain('data-greeting="Good day!" data-description="About the harbour"')
  expect(html).toContain('data-color="#0f766e" data-theme="dark" data-language="de"')
  expect(html).toContain('data-starters="A/B?"')
  expect(html).toContain('<html lang="de">')
  expect(html).not.toContain('<us>')
  expect(html).not.toContain('secret')

  const put = (config: object) => owner.call('PUT', `/assistants/${id}`, { name: 'Harbour guide', config })
  for (const change of [{ 'type==agent/public_page': false }, { 'type==agent/access_mode': 'authenticated' }]) {
    await put({ ...open, ...change })
    const { status, html: missing } = await read(id)
    expect(status).toBe(404)
    expect(missing).toContain('<h1>No such page</h1>')
    expect(missing).not.toContain('harbour')
  }
  await put(open)
  expect((await read(id)).status).toBe(200)
  await service.collections.assistants.updateOne({ _id: id }, { $set: { suspended: true } })
  expect((await read(id)).status).toBe(404)
  expect((await read('nobody')).html).toContain('No such page')
})

it('the page of an assistant with a token does not have the token', async () => {
  const token = `token-${crypto.randomUUID()}`
  const config = { ...open, 'type==agent/access_mode': 'public_token', 'type==agent/public_token': token }
  const { id } = await newAssistant(config)
  const { status, html } = await read(id)
  expect(status).toBe(200)
  expect(html).not.toContain(token)
})

it('what a look may be is checked', async () => {
  const { owner, id } = await newAssistant(open)
  for (const wrong of [
    { color: 'red' },
    { title: 'x'.repeat(81) },
    { theme: 'blue' },
    { language: 'it' },
    { other: 1 },
  ]) {
    const config = { ...open, 'type==agent/chat_look': wrong }
    expect((await owner.call('PUT', `/assistants/${id}`, { name: 'x', config })).status, JSON.stringify(wrong)).toBe(
      422,
    )
  }
})

it('callers without an account cancel their runs, as the access mode says', async () => {
  const { owner, id } = await newAssistant(open)
  const never = Promise.withResolvers<void>()
  service.model.reply({ text: ['At four, ', never.promise, 'perhaps.'] })
  const nobody = apiClient(service.url, undefined)
  const input = [{ type: 'human', content: 'Hi' }]
  const stream = await nobody.fetch('POST', '/public/runs/stream', { assistant_id: id, input })
  const location = stream.headers.get('content-location') ?? ''
  const runId = location.split('/').at(-1) ?? ''
  const cancelled = await nobody.call('POST', `${location}/cancel`)
  expect(cancelled.status).toBe(200)
  expect(cancelled.body).toMatchObject({ run_id: runId, status: 'cancelled' })
  never.resolve()
  expect(await stream.text()).toContain('event: error')
  expect((await owner.get(`/runs/${runId}`)).status).toBe('cancelled')

  const { thread_id } = await owner.post('/threads/', {})
  const { run_id: own } = await owner.post('/runs/', { thread_id, assistant_id: id, input })
  expect((await nobody.call('POST', `/public/runs/${own}/cancel`)).status).toBe(404)
  const token = `token-${crypto.randomUUID()}`
  const config = { 'type==agent/access_mode': 'public_token', 'type==agent/public_token': token }
  await owner.call('PUT', `/assistants/${id}`, { name: 'Closed', config })
  expect((await nobody.call('POST', `/public/runs/${runId}/cancel`)).status).toBe(401)
  expect((await apiClient(service.url, token).call('POST', `/public/runs/${runId}/cancel`)).status).toBe(200)
})
