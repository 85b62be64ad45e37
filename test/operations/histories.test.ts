import { describe, expect, it } from 'vitest'
import { deletionContract } from '../../domain/contracts/deletion.ts'
import { eventually } from '../support/eventually.ts'
import { historyText } from '../support/histories.ts'
import { mailTo } from '../support/mailbox.ts'
import type { RunningService } from '../support/service.ts'
import { useSharedService } from '../support/shared-service.ts'
import { signUpUser } from '../support/users.ts'

const words = {
  message: 'what-the-user-wrote',
  answer: 'what-the-model-said',
  system: 'what-the-owner-told',
  file: 'what-the-file-holds',
}
const password = 'a-password-of-nobody-else'

describe('histories of all workflows, without a codec', () => {
  const service = useSharedService()

  it('contain only ids, counts and states, and each workflow is found by its user', async () => {
    const email = `life-${Date.now()}@example.com`
    const { call, token } = await signUpUser(service, email, password)
    const { body: me } = await call('GET', '/auth/me')

    await call('POST', '/auth/forgot-password', { email })
    const resetMail = await mailTo(email, 2)
    const { body: assistant } = await call('POST', '/assistants/', {
      name: 'A',
      config: { 'type==agent/system_message': words.system },
    })
    const form = new FormData()
    form.append('files', new Blob([words.file]), 'a.txt')
    const upload = await call('POST', `/assistants/${assistant.assistant_id}/files`, form)
    expect(upload.status).toBe(200)
    const { body: thread } = await call('POST', '/threads/', {})
    service.model.reply({ text: words.answer })
    const run = await call('POST', '/runs/stream', {
      thread_id: thread.thread_id,
      input: [{ type: 'human', content: words.message }],
      config: { configurable: { assistant_id: assistant.assistant_id } },
    })
    expect(run.text).toContain(words.answer)
    const gone = await call('DELETE', '/auth/delete-user', { email_confirmation: email })
    expect(gone.body).toMatchObject({ deleted: true })

    const kinds = ['email-verification', 'password-reset', 'thread', 'account-deletion', 'ingestion']
    const found = await eventually('every workflow of the user', async () => {
      const ids: string[] = []
      for await (const { workflowId } of service.temporal.workflow.list({ query: `UserId = "${me.user_id}"` }))
        ids.push(workflowId)
      return kinds.every((kind) => ids.some((id) => id.startsWith(`${kind}/`))) ? ids : undefined
    })
    expect(found).toContain(deletionContract.id({ kind: 'account', id: me.user_id }))

    const secrets = [...Object.values(words), email, password, token, ...codesIn(resetMail.text)]
    for (const workflowId of found) {
      const { text, summary } = await readHistory(service, workflowId)
      expect(
        secrets.filter((secret) => text.includes(secret)),
        workflowId,
      ).toEqual([])
      expect(summary, workflowId).not.toBe('')
      // The payloads were read indeed.
      expect(text, workflowId).toMatch(/[iI]d":"/)
    }
  })
})

/** Long unbroken pieces of a mail: its token is one of them. */
function codesIn(text: string): string[] {
  return text.match(/[A-Za-z0-9_-]{20,}/g) ?? []
}

/** All that a history says, and the line that the UI shows for it. */
async function readHistory(service: RunningService, workflowId: string): Promise<{ text: string; summary: string }> {
  const handle = service.temporal.workflow.getHandle(workflowId)
  const description = await handle.describe()
  return { text: historyText(await handle.fetchHistory()), summary: (await description.staticSummary()) ?? '' }
}
