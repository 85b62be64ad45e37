import argon2 from 'argon2'
import { describe, expect, it } from 'vitest'
import { checkNewPassword, createPasswords } from '../../services/accounts/passwords.ts'

describe('passwords', () => {
  it('are argon2id with the parameters that OWASP names', async () => {
    const passwords = createPasswords()
    const hash = await passwords.hash('correct horse battery')
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(await passwords.matches('correct horse battery', hash)).toBe(true)
    expect(await passwords.matches('correct horse battery ', hash)).toBe(false)
    expect(await passwords.matches('correct horse battery', undefined)).toBe(false)
    expect(passwords.needsRenewal(hash)).toBe(false)
    expect(
      passwords.needsRenewal(await argon2.hash('x', { type: argon2.argon2id, memoryCost: 8192, timeCost: 1 })),
    ).toBe(true)
  })

  it('have 8 to 256 characters, counted by code points', () => {
    for (const password of ['12345678', '🐎'.repeat(8), '🐎'.repeat(256), 'with\u0000nul']) {
      expect(() => checkNewPassword(password)).not.toThrow()
    }
    for (const password of ['', '1234567', '🐎'.repeat(7), 'x'.repeat(257)]) {
      expect(() => checkNewPassword(password)).toThrow('8 to 256 characters')
    }
  })
})

describe('a password of invalid length', () => {
  it('is never hashed: login fails at once, and it is refused as a new password', async () => {
    // Without a slot, whatever wants to hash waits for ever.
    const passwords = createPasswords(0)
    const hash = await createPasswords().hash('correct horse battery')
    for (const password of ['x'.repeat(257), '🐎'.repeat(257), 'x'.repeat(65_000), '']) {
      expect(await passwords.matches(password, hash)).toBe(false)
      expect(await passwords.matches(password, undefined)).toBe(false)
      await expect(passwords.hash(password)).rejects.toThrow('8 to 256 characters')
    }
  })
})
