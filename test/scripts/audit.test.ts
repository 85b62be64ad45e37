import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { sendJson, startHttpServer } from '../support/http-server.ts'

const root = path.join(import.meta.dirname, '../..')

/** `npm run audit` against a registry that answers the audit with this. */
async function auditWith(status: number, answer: object) {
  const registry = await startHttpServer((request, response) =>
    request.method === 'POST' ? sendJson(response, status, answer) : sendJson(response, 404, {}),
  )
  // npm keeps advisories that it has seen.
  const cache = await mkdtemp(path.join(tmpdir(), 'assistant-audit-'))
  const npm = { npm_config_registry: registry.url, npm_config_fetch_retries: '0', npm_config_cache: cache }
  const env = { ...process.env, ...npm }
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ['scripts/audit.ts'], { cwd: root, env })
    return { code: 0, stdout }
  } catch (error) {
    return { code: Number(Reflect.get(Object(error), 'code')), stdout: String(Reflect.get(Object(error), 'stdout')) }
  } finally {
    await registry.close()
    await rm(cache, { recursive: true, force: true })
  }
}

const advisory = (severity: string) => ({
  fastify: [
    {
      id: 1,
      url: 'https://example.com/1',
      title: 'Weak',
      severity,
      vulnerable_versions: '*',
      cwe: [],
      cvss: { score: 9 },
    },
  ],
})

test('passes without known vulnerabilities', async () => {
  expect(await auditWith(200, {})).toMatchObject({ code: 0, stdout: expect.stringContaining('0 packages with known') })
})

test('fails for a vulnerability of high severity, and reports one of low severity', async () => {
  const high = await auditWith(200, advisory('high'))
  expect(high).toMatchObject({ code: 1, stdout: expect.stringContaining('high: fastify') })
  const low = await auditWith(200, advisory('low'))
  expect(low).toMatchObject({ code: 0, stdout: expect.stringContaining('low: fastify') })
})

test('passes with a clear message if the registry does not offer audits', async () => {
  const { code, stdout } = await auditWith(405, {})
  expect(code).toBe(0)
  expect(stdout).toContain('NOT checked')
  expect(stdout).toContain('405')
})
