import { describe, expect, it } from 'vitest'
import { maskSecrets } from '../../domain/mask-secrets.ts'

describe('masking the secrets of a configuration', () => {
  it.each([
    ['members named after secrets', { 'type==agent/public_token': 's', apiKey: 's', password: 7, 'X-API-Key': 's' }],
    ['everything within headers', { headers: { accept: 's', deep: [{ more: 's' }, 's'] }, defaultHeaders: ['s'] }],
    ['credentials, cookies and environments', { auth: { type: 's' }, cookies: ['s'], env: { HOME: 's' } }],
    ['secrets within secrets', { secret: { any: { where: 's' } }, clientSecret: 's', tokens: ['s'] }],
  ])('masks %s', (_what, config) => {
    const masked = JSON.stringify(maskSecrets(config))
    expect(masked).not.toMatch(/"s"|7/)
    expect(masked).toContain('***')
  })

  it('keeps names, order and everything else', () => {
    const config = JSON.parse(
      '{"b":1,"a":[null,true,"text"],"max_tokens":100,"header_row":true,"monkey":"banana","__proto__":{"x":1},"":{}}',
    )
    expect(JSON.stringify(maskSecrets(config))).toBe(JSON.stringify(config))
    expect(maskSecrets({ headers: { 'x-key': 'abc', empty: '' } })).toEqual({ headers: { 'x-key': '***', empty: '' } })
  })

  it('masks secrets in URLs', () => {
    expect(maskSecrets({ url: 'https://me:pass@host/a?api_key=abc&page=2' })).toEqual({
      url: 'https://***:***@host/a?api_key=***&page=2',
    })
    expect(maskSecrets(['https://host/a?page=2', 'token=abc'])).toEqual(['https://host/a?page=2', 'token=abc'])
  })
})
