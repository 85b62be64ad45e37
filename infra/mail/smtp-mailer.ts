import { createTransport } from 'nodemailer'
import { AppError } from '../../domain/errors.ts'
import { escapeHtml } from '../../domain/escape-html.ts'
import { defaultProductName } from '../../domain/product.ts'
import type { Mailer } from '../../services/mailer.ts'

/**
 * Above these limits a mail server counts as unreachable. Together they are shorter than the activity's own limit.
 */
const limits = { connectionTimeout: 5000, greetingTimeout: 5000, socketTimeout: 8000 }

const trustMs = 30_000

/**
 * Sends mail by SMTP, through the server in `SMTP_URL` (`smtp://` or `smtps://`, optionally with user and
 * password).
 */
export function createSmtpMailer({
  smtpUrl,
  mailFrom,
  productName = defaultProductName,
}: {
  smtpUrl: string | undefined
  mailFrom: string
  productName?: string | undefined
}): Mailer {
  if (smtpUrl === undefined) {
    return {
      send: async () => {
        throw new AppError('unavailable', 'No mail server is configured (SMTP_URL).')
      },
      ping: undefined,
      close: () => undefined,
    }
  }
  let lastAnswer = 0
  const transport = createTransport({ url: smtpUrl, ...limits })
  return {
    async send({ messageId, unsubscribeUrl, text, html, ...mail }) {
      try {
        await transport.sendMail({
          ...mail,
          // Below each mail stands whose it is.
          text: `${text}\n${productName}\n`,
          html: html.replace('</body>', () => `<p style="color: #5c6059">${escapeHtml(productName)}</p>\n</body>`),
          ...(unsubscribeUrl === undefined ? {} : { headers: unsubscribeHeaders(unsubscribeUrl) }),
          from: mailFrom,
          messageId: `<${messageId}@${domainOf(mailFrom)}>`,
          disableFileAccess: true,
          disableUrlAccess: true,
        })
      } catch (cause) {
        throw explain(cause)
      }
    },
    ping: async () => {
      // Not every health check should log in to the mail server.
      if (Date.now() - lastAnswer < trustMs) return
      await transport.verify()
      lastAnswer = Date.now()
    },
    close: () => transport.close(),
  }
}

/**
 * SMTP replies of 500 and above are final (RFC 5321, section 4.2.1), except those about logging in, which the
 * operator must fix.
 */
function explain(cause: unknown): AppError {
  const details: { responseCode?: unknown; code?: unknown } = typeof cause === 'object' && cause !== null ? cause : {}
  const { responseCode, code } = details
  if (typeof responseCode === 'number' && responseCode >= 500 && code !== 'EAUTH') {
    return new AppError('bad_request', `The mail server refused the mail (${responseCode}).`, { cause })
  }
  return new AppError(
    'upstream_failed',
    `The mail server did not accept the mail (${typeof code === 'string' ? code : 'no reason'}).`,
    { cause },
  )
}

const unsubscribeHeaders = (url: string) => ({
  'List-Unsubscribe': `<${url}>`,
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
})

function domainOf(from: string): string {
  return /@([\w.-]+)/.exec(from)?.[1] ?? 'localhost'
}
