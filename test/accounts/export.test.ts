import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { runProgram } from '../deploy/run-program.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import { useModelService } from '../support/model-service.ts'
import { insertUser } from '../support/users.ts'
import { conversation } from '../runs/support.ts'

describe('export of all data of a user', () => {
  const service = useModelService()
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'export-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  /** The test service listens on a port of its own, which its BASE_URL does not name. */
  const fetchLink = (url: string) => fetch(`${service.url}${new URL(url).pathname}${new URL(url).search}`)
  const secret = 'a-secret-of-a-tool'
  const token = 'a-public-token-of-some-length'

  it('contains every record and file, and no secret', async () => {
    const talk = await conversation(service, {
      note: 'kept',
      'type==agent/access_mode': 'public_token',
      'type==agent/public_token': token,
      'type==agent/tools': [{ type: 'http_request', config: { headers: { 'x-key': secret } } }],
    })
    service.model.reply({ text: 'An answer to keep.' })
    const run = await talk.stream('A question to keep')
    const original = `# Harbour\n\n${'The office opens at six. '.repeat(60_000)}`
    const { body } = await (
      await knowledgeClient(talk.client)
    ).upload([{ name: 'guide.md', content: original }], '?wait=false')
    const stranger = await conversation(service)
    service.model.reply({ text: 'Of a stranger.' })
    await stranger.stream('Of a stranger')

    const { url, expires_at: expiresAt } = await talk.client.post('/user/export')
    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(23 * 3_600_000)
    const response = await fetchLink(url)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/octet-stream')
    const archive = path.join(folder, 'export.tar.gz')
    await writeFile(archive, new Uint8Array(await response.arrayBuffer()))
    await runProgram('tar', ['-xzf', archive, '-C', folder])

    const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'))
    const lines = async (kind: string): Promise<any[]> =>
      (await readFile(path.join(folder, `${kind}-00001.jsonl`), 'utf8'))
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    expect(names.map((name) => name.split('-0')[0] ?? '').toSorted((a, b) => a.localeCompare(b))).toEqual([
      'assistants',
      'files',
      'messages',
      'projects',
      'runs',
      'threads',
    ])
    expect(JSON.parse(await readFile(path.join(folder, 'user.json'), 'utf8'))).toMatchObject({
      user_id: talk.client.userId,
    })
    expect(await lines('runs')).toMatchObject([{ run_id: run.runId, status: 'success' }])
    const [kept] = (await lines('assistants')).filter(({ assistant_id: id }) => id === talk.assistantId)
    expect(kept.config).toMatchObject({ note: 'kept', 'type==agent/public_token': '***' })
    expect(JSON.stringify(await lines('messages'))).toMatch(/A question to keep.*An answer to keep/)
    expect(await lines('files')).toMatchObject([{ file_id: body.files[0].id, name: 'guide.md', size: original.length }])
    expect(await readFile(path.join(folder, 'files', body.files[0].id), 'utf8')).toBe(original)

    const everything = (
      await Promise.all([...names, 'user.json'].map((name) => readFile(path.join(folder, name), 'utf8')))
    ).join('')
    for (const word of [secret, token, 'password', 'Of a stranger', stranger.client.userId])
      expect(everything).not.toContain(word)
  })

  it('can be downloaded with a valid link only', async () => {
    const [user, other] = [await insertUser(service), await insertUser(service)]
    const { url } = await user.post('/user/export')
    const changed = (name: string, value: string) => {
      const link = new URL(url)
      link.searchParams.set(name, value)
      return fetchLink(link.href)
    }
    expect((await changed('user_id', other.userId)).status).toBe(403)
    expect((await changed('expires', String(Date.now() + 10 * 86_400_000))).status).toBe(403)
    expect((await changed('signature', 'x'.repeat(43))).status).toBe(403)
    const { derivedSecrets } = service.api.platform.core
    const past = Date.now() - 1
    const old = new URLSearchParams({
      user_id: user.userId,
      expires: String(past),
      signature: derivedSecrets.exportSignature(user.userId, past),
    })
    expect((await apiClient(service.url).call('GET', `/user/export/archive?${old.toString()}`)).status).toBe(403)
    expect((await fetchLink(url)).status).toBe(200)
    // Nothing is stored: with the account, what the link leads to is gone.
    const { email } = await user.get('/user/')
    await user.call('DELETE', '/auth/delete-user', { email_confirmation: email })
    expect((await fetchLink(url)).status).toBe(404)
  })

  it('is limited to one download at a time for a user; a disconnect frees the slot', async () => {
    const talk = await conversation(service)
    // Random bytes do not shrink: more than what the sockets hold waits for its reader.
    const content = crypto.getRandomValues(new Uint8Array(65_536))
    const large = Buffer.concat(
      Array.from({ length: 256 }, () => Buffer.from(content.map((byte) => byte ^ Math.floor(Math.random() * 256)))),
    )
    await (
      await knowledgeClient(talk.client)
    ).upload([{ name: 'noise.bin', content: new Uint8Array(large) }], '?wait=false')
    const { url } = await talk.client.post('/user/export')
    const first = await fetchLink(url)
    expect(first.status).toBe(200)
    expect((await fetchLink(url)).status).toBe(429)
    // A bystander is not kept waiting.
    const bystander = await insertUser(service)
    expect((await fetchLink((await bystander.post('/user/export')).url)).status).toBe(200)
    await first.body?.cancel()
    await expect.poll(async () => (await fetchLink(url)).status, { timeout: 20_000 }).toBe(200)
  })
})
