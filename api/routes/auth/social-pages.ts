import type { Provider } from '../../../domain/records/user.ts'

/** Error pages of the social login; they contain no token and no script. */

const advice: Record<Provider, string> = {
  email: 'It has a password: log in with the e-mail address and the password instead.',
  social: 'Log in with the identity provider again.',
  userpool: 'It belongs to the user pool: log in through the application that uses it.',
}

export function otherProviderPage(provider: Provider): string {
  return page('This account uses another kind of login', [
    'An account with the e-mail address of your identity provider already exists.',
    advice[provider],
  ])
}

export function otherSubjectPage(): string {
  return page('This account belongs to another identity', [
    'An account with your e-mail address already exists, but it was created with another identity at this identity provider.',
    'Log in with that identity, or ask the people who run this service.',
  ])
}

export function noVerifiedEmailPage(): string {
  return page('Your e-mail address is not verified', [
    'The identity provider gave no e-mail address that it has verified.',
    'Verify your address there, then log in again.',
  ])
}

function page(title: string, paragraphs: string[]): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title}</title>
    <style>body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 4rem auto; padding: 0 1rem }</style>
  </head>
  <body>
    <h1>${title}</h1>
${paragraphs.map((text) => `    <p>${text}</p>`).join('\n')}
  </body>
</html>
`
}
