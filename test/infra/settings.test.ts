import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { loadSettings } from '../../infra/config.ts'

const required = { SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'), JWT_SECRET: 'a secret of some length' }
const read = (path: string) => readFile(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')

const byName = (a: string, b: string) => a.localeCompare(b)

/** The variables that `loadSettings` asks for. */
function variablesRead(): string[] {
  const asked = new Set<string>()
  loadSettings(
    new Proxy<NodeJS.ProcessEnv>(required, {
      get: (env, name) => {
        if (typeof name === 'string') asked.add(name)
        return env[String(name)]
      },
    }),
  )
  return [...asked]
}

describe('settings', () => {
  it('each have a line in .env.example, which has no other', async () => {
    const lines = (await read('.env.example')).matchAll(/^([A-Z0-9_]+)=/gm)
    const documented = [...lines].flatMap((line) => line[1] ?? []).filter((name) => name !== 'DEMO_MODEL')
    expect(documented.toSorted(byName)).toEqual(variablesRead().toSorted(byName))
    expect(documented.length).toBeGreaterThan(50)
  })

  it('may all be left out but the two secrets', () => {
    expect(loadSettings(required)).toMatchObject({
      port: 8100,
      jwtIssuer: 'assistant-platform',
      jwtAudience: 'assistant-platform',
    })
    expect(() => loadSettings({})).toThrow(/SECRETS_KEY[^]*JWT_SECRET/)
  })

  it('name all that is wrong at once, and never the value', () => {
    const wrong = {
      ...required,
      PORT: 'hidden-value',
      BASE_URL: 'hidden-value',
      JWT_ALGORITHM: 'hidden-value',
      CORS_ORIGINS: '*',
    }
    const problem = (() => {
      try {
        loadSettings(wrong)
        return ''
      } catch (error) {
        return String(error)
      }
    })()
    for (const name of ['PORT', 'BASE_URL', 'JWT_ALGORITHM', 'CORS_ORIGINS']) expect(problem).toContain(name)
    expect(problem).not.toContain('hidden-value')
  })

  it('keep the slash at the end of an issuer, and drop it from other addresses', () => {
    const settings = loadSettings({
      ...required,
      OAUTH_ISSUER: 'https://idp.example.com/o/app/',
      FRONTEND_URL: 'https://front.example.com/',
    })
    expect(settings.oauthIssuer).toBe('https://idp.example.com/o/app/')
    expect(settings.frontendUrl).toBe('https://front.example.com')
  })
})
