import { escapeHtml } from '../../domain/escape-html.ts'
import { type Language, defaultLanguage } from '../../domain/languages.ts'
import { mailMessages } from '../mail-messages.ts'
import type { Mail } from '../mailer.ts'

interface Receiver {
  to: string
  /** Of the account. */
  language: Language | undefined
  messageId: string
}

/** The mail with a verification code. */
export function verificationMail({ code, ...receiver }: Receiver & { code: string }): Mail {
  const html = `<p style="font-size: 1.6em; letter-spacing: 0.2em"><strong>${escapeHtml(code)}</strong></p>`
  return mailOf('verification', receiver, { text: code, html })
}

/** The mail with the link to choose a new password. */
export function passwordResetMail({ link, ...receiver }: Receiver & { link: string }): Mail {
  const url = escapeHtml(link)
  return mailOf('passwordReset', receiver, { text: link, html: `<p><a href="${url}">${url}</a></p>` })
}

/** The mail with the link of an invitation. The name of the project is not part of it: anybody can choose one. */
export function invitationMail({ link, ...receiver }: Receiver & { link: string }): Mail {
  const url = escapeHtml(link)
  return mailOf('invitation', receiver, { text: link, html: `<p><a href="${url}">${url}</a></p>` })
}

/** The mail that says that an account is deleted. Nothing in it leads anywhere. */
export function accountDeletedMail(receiver: Receiver): Mail {
  return mailOf('accountDeleted', receiver)
}

/** `core`: what the mail is sent for. */
function mailOf(
  kind: 'verification' | 'passwordReset' | 'invitation' | 'accountDeleted',
  { language = defaultLanguage, ...receiver }: Receiver,
  core?: Pick<Mail, 'text' | 'html'>,
): Mail {
  const { subject, intro, note } = mailMessages[language][kind]
  return {
    ...receiver,
    subject,
    text: `${[intro, ...(core ? [core.text] : []), note].join('\n\n')}\n`,
    html: `<!doctype html>
<html lang="${language}"><body>
<p>${escapeHtml(intro)}</p>
${core?.html ?? ''}
<p>${escapeHtml(note)}</p>
</body></html>
`,
  }
}
