import type { Provider } from '../../../domain/records/user.ts'
import { htmlPage } from '../html-page.ts'

/** Error pages of the social login; they contain no token and no script. */

const advice: Record<Provider, string> = {
  email: 'It has a password: log in with the e-mail address and the password instead.',
  social: 'Log in with the identity provider again.',
  userpool: 'It belongs to the user pool: log in through the application that uses it.',
}

export function otherProviderPage(provider: Provider): string {
  return htmlPage('This account uses another kind of login', [
    'An account with the e-mail address of your identity provider already exists.',
    advice[provider],
  ])
}

export function otherSubjectPage(): string {
  return htmlPage('This account belongs to another identity', [
    'An account with your e-mail address already exists, but it was created with another identity at this identity provider.',
    'Log in with that identity, or ask the people who run this service.',
  ])
}

export function noVerifiedEmailPage(): string {
  return htmlPage('Your e-mail address is not verified', [
    'The identity provider gave no e-mail address that it has verified.',
    'Verify your address there, then log in again.',
  ])
}
