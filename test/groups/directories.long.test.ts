import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { decodeJwt } from 'jose'
import { expect, it } from 'vitest'
import { freePort } from '../../local/services/ports.ts'
import { eventually } from '../support/eventually.ts'
import { logInByHttp } from '../support/identity-provider.ts'
import { installTimeoutMs, pythonPrograms } from '../support/python-packages.ts'
import { startService } from '../support/service.ts'

/** Of PyPI: a compliance checker of SCIM, and an OpenID provider that shares nothing with that of the other tests. */
const packages = ['scim2-cli==0.6.0', 'scim2-tester==0.5.2', 'oidc-provider-mock==0.3.4']

it(
  'works with the compliance checker scim2-tester, and with an OpenID provider in Python',
  { timeout: installTimeoutMs + 120_000 },
  async () => {
    const programs = await pythonPrograms('directories', packages)
    const [servicePort, providerPort] = [await freePort(), await freePort()]
    const issuer = `http://127.0.0.1:${providerPort}`
    const token = randomBytes(24).toString('hex')
    const email = `ada-${randomBytes(6).toString('hex')}@example.com`
    const claims = { sub: 'ada', email, email_verified: true, groups: ['crew'] }
    const provider = spawn(
      path.join(programs, 'oidc-provider-mock'),
      ['--port', String(providerPort), '--user-claims', JSON.stringify(claims)],
      { stdio: 'ignore' },
    )
    const baseUrl = `http://127.0.0.1:${servicePort}`
    const service = await startService({
      env: {
        PORT: String(servicePort),
        BASE_URL: baseUrl,
        SCIM_TOKEN: token,
        SCIM_PROVIDER: 'mock',
        MOCK_SECRET: 'any secret',
        OAUTH_PROVIDERS: JSON.stringify([
          {
            id: 'mock',
            name: 'Mock',
            issuer,
            client_id: 'assistant-platform',
            client_secret_env: 'MOCK_SECRET',
            groups_claims: ['groups'],
          },
        ]),
      },
    })
    try {
      const report = await checkScim(programs, `${baseUrl}/scim/v2`, token)
      const findings = report.split(/^(?=[A-Z]+ \w+$)/m).slice(1)
      expect(findings.filter((finding) => !/^(?:SUCCESS|COMPLIANT|ACCEPTABLE)\b/.test(finding))).toEqual([])
      expect(findings.length).toBeGreaterThan(60)

      await eventually('the provider', async () => (await fetch(`${issuer}/.well-known/openid-configuration`)).ok)
      const { status, location } = await logInByHttp(baseUrl, 'mock', 'ada')
      expect(status).toBe(302)
      const userId = decodeJwt(new URL(location).searchParams.get('jwt_token') ?? '')['user_id']
      const user = await service.collections.users.findById(userId).lean()
      expect(user).toMatchObject({ email, provider: 'social', subject: `${issuer}|ada` })
      const groups = await service.collections.groups.find({ _id: { $in: user?.claimed_group_ids ?? [] } }).lean()
      expect(groups).toMatchObject([{ name: 'crew', source: 'provider' }])
    } finally {
      provider.kill()
      await service.close()
    }
  },
)

/** What the checker prints, also when it has found something. */
function checkScim(programs: string, url: string, token: string): Promise<string> {
  const env = { ...process.env, SCIM_CLI_HEADERS: `Authorization: Bearer ${token}`, NO_COLOR: '1' }
  return new Promise((resolve) => {
    execFile(
      path.join(programs, 'scim'),
      ['--url', url, 'test', '--verbose'],
      { env, maxBuffer: 2 ** 24 },
      (_error, out, err) => resolve(`${out}\n${err}`),
    )
  })
}
