import { escapeHtml } from '../../domain/escape-html.ts'
import type { Mail } from '../mailer.ts'

/** The mail with a verification code. */
export function verificationMail(to: string, code: string, messageId: string): Mail {
  return mailOf({
    to,
    messageId,
    subject: 'Your verification code',
    lines: [
      'Your verification code is:',
      code,
      'It is valid for 15 minutes. If you did not sign up, ignore this mail.',
    ],
    emphasized: code,
  })
}

/** The mail with the link to choose a new password. */
export function passwordResetMail(to: string, link: string, messageId: string): Mail {
  return mailOf({
    to,
    messageId,
    subject: 'Choose a new password',
    lines: [
      'Open this link to choose a new password:',
      link,
      'It works once, within an hour. If you did not request it, ignore this mail: your password does not change.',
    ],
    link,
  })
}

interface MailParts {
  to: string
  messageId: string
  subject: string
  lines: string[]
  emphasized?: string
  link?: string
}

function mailOf({ lines, emphasized, link, ...mail }: MailParts): Mail {
  const paragraphs = lines.map((line) => {
    const text = escapeHtml(line)
    if (line === emphasized) return `<p style="font-size: 1.6em; letter-spacing: 0.2em"><strong>${text}</strong></p>`
    return line === link ? `<p><a href="${text}">${text}</a></p>` : `<p>${text}</p>`
  })
  return {
    ...mail,
    text: `${lines.join('\n\n')}\n`,
    html: `<!doctype html>\n<html lang="en"><body>\n${paragraphs.join('\n')}\n</body></html>\n`,
  }
}
