import { expect, it } from 'vitest'
import { isEmailAddress, normalizeEmail } from '../../domain/email-address.ts'
import { verifiedEmailOf } from '../../domain/verified-email.ts'

const issuer = 'https://login.example.com/7c0ffee0-0000-4000-8000-000000000000/v2.0'
const email = 'ada@example.com'

it('an address of a provider that does not say it is verified is taken from issuers that the operator names', () => {
  const tenant = { issuer, trusted: [`${issuer}/`] }
  const nobody = { issuer, trusted: ['https://login.example.com/another-tenant/v2.0'] }
  expect(verifiedEmailOf({ email }, tenant)).toEqual({ email })
  expect(verifiedEmailOf({ email }, nobody)).toEqual({ problem: 'not_said' })
  for (const verified of [true, 'true'])
    expect(verifiedEmailOf({ email, email_verified: verified }, nobody)).toEqual({ email })
  for (const verified of [false, 'false', 0, null])
    expect(verifiedEmailOf({ email, email_verified: verified }, tenant)).toEqual({ problem: 'not_verified' })
  for (const none of [{}, { email: '' }, { email: 7 }])
    expect(verifiedEmailOf(none, tenant)).toEqual({ problem: 'no_address' })
})

it('addresses have letters of any language, and blanks around them do not count', () => {
  const addresses = [
    'ada@example.com',
    ' ada@example.com\n',
    'jürgen.groß@example.com',
    'info@bücher.example',
    '用户@例え.jp',
  ]
  for (const address of [...addresses, 'a+b_c@sub.xn--bcher-kva.example', "o'neil@example.com"])
    expect([address, isEmailAddress(address)]).toEqual([address, true])
  const none = ['', '@', 'ada', 'ada@', '@example.com', 'a da@example.com', 'ada@exam ple.com', 'ada@example', 'a@b@']
  for (const text of [
    ...none,
    '.a@example.com',
    'a..b@example.com',
    'a@-x.com',
    'a@[127.0.0.1]',
    'a\r\nBcc: x@y.de@example.com',
  ])
    expect([text, isEmailAddress(text)]).toEqual([text, false])
  expect(isEmailAddress(`${'a'.repeat(65)}@example.com`)).toBe(false)
  expect(isEmailAddress(`${'ü'.repeat(33)}@example.com`)).toBe(false)
  expect(normalizeEmail('  Jürgen@Bücher.Example ')).toBe('jürgen@xn--bcher-kva.example')
  // Accounts were stored with this form before letters of any language were taken.
  for (const domain of ['xn--bcher-kva.example', 'bu\u0308cher.example', 'BÜCHER。example'])
    expect(normalizeEmail(`ju\u0308rgen@${domain}`)).toBe('jürgen@xn--bcher-kva.example')
})
