import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'

/**
 * The cookie of one login (RFC 6265). Its name contains the `state`, so that logins in two tabs do not overwrite
 * each other; `Lax` lets the browser send it when the provider redirects back.
 */
export function attemptCookies(baseUrl: string) {
  const { protocol, pathname } = new URL(baseUrl)
  const common = ['SameSite=Lax', ...(protocol === 'https:' ? ['Secure'] : [])]
  const attributes = [`Path=${pathname.replace(/\/$/, '')}/auth/social`, 'HttpOnly', ...common].join('; ')

  return {
    set: (state: string, sealed: string, maxAgeSeconds: number) =>
      `${nameOf(state)}=${sealed}; Max-Age=${maxAgeSeconds}; ${attributes}`,
    clear: (state: string) => `${nameOf(state)}=; Max-Age=0; ${attributes}`,
    /**
     * A login redirects to a page, which reads this cookie: it shows that the service gave the token to this browser.
     * Another site can lead to that page too, but cannot set the cookie. It holds the last 22 characters of the token,
     * which identify the token and cannot be used in its place.
     */
    given(token: string, redirectTo: string): string {
      return [
        `social_login_end=${token.slice(-22)}`,
        'Max-Age=60',
        `Path=${new URL(redirectTo).pathname}`,
        ...common,
      ].join('; ')
    },
    read(request: FastifyRequest, state: string): string | undefined {
      const prefix = `${nameOf(state)}=`
      return (request.headers.cookie ?? '')
        .split(/; */)
        .find((cookie) => cookie.startsWith(prefix))
        ?.slice(prefix.length)
    },
  }
}

function nameOf(state: string): string {
  return `social_login_${createHash('sha256').update(state).digest('hex').slice(0, 16)}`
}
