import { describe, expect, it } from 'vitest'
import { createSmtpMailer } from '../../infra/mail/smtp-mailer.ts'
import { freePort } from '../../local/services/ports.ts'
import { passwordResetMail, verificationMail } from '../../services/accounts/mails.ts'
import { apiClient } from '../support/api-client.ts'
import { startMailServer } from '../support/mail-server.ts'
import { startService } from '../support/service.ts'

const mailFrom = 'Assistants <no-reply@service.example.com>'
const to = 'ada@example.com'
const mail = verificationMail({ to, language: undefined, code: '123456', messageId: 'verification.run.1' })

describe('the SMTP mailer', () => {
  it('sends text, HTML and a stable Message-ID', async () => {
    const server = await startMailServer()
    const mailer = createSmtpMailer({ smtpUrl: server.url, mailFrom, productName: 'Pilot & Sons' })
    await mailer.ping?.()
    await mailer.send(mail)
    const link = 'https://front.example.com/x?a=1&b=2'
    await mailer.send(passwordResetMail({ to, language: 'de', link, messageId: 'reset.run.1' }))
    mailer.close()
    await server.close()
    expect(server.mails).toHaveLength(2)
    expect(server.mails[0]).toContain('From: Assistants <no-reply@service.example.com>')
    expect(server.mails[0]).toContain('To: ada@example.com')
    expect(server.mails[0]).toContain('Message-ID: <verification.run.1@service.example.com>')
    expect(server.mails[0]).toMatch(/^123456\r?$/m)
    // Whose mail it is.
    expect(server.mails[0]).toMatch(/^Pilot & Sons\r?$/m)
    expect(server.mails[0]).toContain('Pilot &amp; Sons')
    expect(mail.html).toContain('<html lang="en">')
    expect(server.mails[1]).toContain('text/html')
  })

  it.each([
    [550, 'bad_request'],
    [553, 'bad_request'],
    [451, 'upstream_failed'],
  ])('distinguishes permanent from temporary refusals (%i)', async (code, expected) => {
    const server = await startMailServer({ answer: () => code })
    const mailer = createSmtpMailer({ smtpUrl: server.url, mailFrom })
    await expect(mailer.send(mail)).rejects.toMatchObject({ code: expected })
    mailer.close()
    await server.close()
  })

  it('fails with a clear error if no server answers or none is configured', async () => {
    const away = createSmtpMailer({ smtpUrl: `smtp://127.0.0.1:${await freePort()}`, mailFrom })
    await expect(away.send(mail)).rejects.toMatchObject({ code: 'upstream_failed' })
    const none = createSmtpMailer({ smtpUrl: undefined, mailFrom })
    await expect(none.send(mail)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('SMTP_URL'),
    })
    expect(none.ping).toBeUndefined()
  })

  it('is reported by GET /ok', async () => {
    const mailOf = async (env: Record<string, string>) => {
      const service = await startService({ worker: false, env })
      const { body } = await apiClient(service.url).call('GET', '/ok')
      await service.close()
      return body.dependencies.mail.status
    }
    expect(await mailOf({})).toBe('ok')
    expect(await mailOf({ SMTP_URL: '' })).toBe('not_configured')
    expect(await mailOf({ SMTP_URL: `smtp://127.0.0.1:${await freePort()}` })).toBe('down')
  })
})
