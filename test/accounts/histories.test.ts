import { createHash } from 'node:crypto'
import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import { emailVerificationContract } from '../../domain/contracts/email-verification.ts'
import { invitationContract } from '../../domain/contracts/invitation.ts'
import { passwordResetContract } from '../../domain/contracts/password-reset.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { historyText, recordHistory } from '../support/histories.ts'
import { codeTo, mailTo } from '../support/mailbox.ts'
import { useSharedService } from '../support/shared-service.ts'
import { goodPassword, newEmail } from '../support/users.ts'

/** Whether a word stands by itself in a text: six digits turn up by chance within longer numbers and ids. */
function standsIn(text: string, word: string): boolean {
  return text.split(/[^\w-]+/).includes(word) || (/\W/.test(word) && text.includes(word))
}

describe('histories of account workflows', () => {
  const service = useSharedService()

  const post = (path: string, body: unknown) => apiClient(service.url).call('POST', path, body)

  it('contain no code, token, password or address, and no hash of them', async () => {
    const email = newEmail()
    const { body } = await post('/auth/signup', { email, password: goodPassword })
    const code = await codeTo(email)
    const wrong = code === '123123' ? '321321' : '123123'
    expect((await post('/auth/verify-email', { email, code: wrong })).status).toBe(400)
    expect((await post('/auth/verify-email', { email, code })).status).toBe(200)

    await post('/auth/forgot-password', { email })
    await mailTo(email, 2)
    await post('/auth/forgot-password', { email })
    const token = /token=([\w-]+)/.exec((await mailTo(email, 3)).text)?.[1] ?? ''
    const newPassword = 'a wholly new password'
    expect((await post('/auth/reset-password', { token, new_password: newPassword })).status).toBe(200)
    const hash = (await service.collections.users.findById(body.user_id).lean())?.password_hash ?? ''

    const ended = async (workflowId: string) => {
      const handle = service.temporal.workflow.getHandle(workflowId)
      await eventually(`the end of ${workflowId}`, async () => (await handle.describe()).status.name === 'COMPLETED')
      return handle.fetchHistory()
    }
    const verification = await ended(emailVerificationContract.id({ userId: body.user_id }))
    const reset = await ended(passwordResetContract.id({ userId: body.user_id }))
    await recordHistory('email-verification', verification)
    await recordHistory('password-reset', reset)

    const login = await post('/auth/login', { email, password: newPassword })
    const projectId = String(decodeJwt(String(login.body.jwt_token))['project_id'])
    const guest = newEmail()
    const asOwner = apiClient(service.url, String(login.body.jwt_token))
    const member = await asOwner.post(`/projects/${projectId}/members`, { email: guest, role: 'member' })
    const link = /token=([\w.-]+)/.exec((await mailTo(guest)).text)?.[1] ?? ''
    const invitation = await ended(invitationContract.id({ memberId: member.member_id, send: 1 }))
    await recordHistory('invitation', invitation)

    const sha256 = (text: string) => createHash('sha256').update(text)
    const secrets = {
      code,
      wrong,
      token,
      newPassword,
      goodPassword,
      hash,
      email,
      guest,
      link: link.slice(link.indexOf('.') + 1),
      user: email.slice(0, email.indexOf('@')),
    }
    for (const history of [verification, reset, invitation]) {
      const text = historyText(history)
      expect(text).toContain(body.user_id)
      for (const [name, secret] of Object.entries(secrets)) {
        expect(secret.length, name).toBeGreaterThan(5)
        expect(standsIn(text, secret), name).toBe(false)
        for (const digest of ['hex', 'base64', 'base64url'] as const)
          expect(text, name).not.toContain(sha256(secret).digest(digest))
      }
    }
  })

  it('are found by user, and have a readable summary', async () => {
    const email = newEmail()
    const { body } = await post('/auth/signup', { email, password: goodPassword })
    await codeTo(email)
    const found = await eventually('the workflow in a search', async () => {
      for await (const workflow of service.temporal.workflow.list({ query: `UserId = '${body.user_id}'` }))
        return workflow
      return undefined
    })
    expect(found.workflowId).toBe(emailVerificationContract.id({ userId: body.user_id }))
    const description = await service.temporal.workflow.getHandle(found.workflowId).describe()
    expect(await description.staticSummary()).toContain(body.user_id)
  })
})
