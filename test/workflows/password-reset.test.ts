import { randomUUID } from 'node:crypto'
import { heartbeat, sleep } from '@temporalio/activity'
import { WorkflowNotFoundError } from '@temporalio/client'
import { ApplicationFailure } from '@temporalio/common'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { passwordResetContract } from '../../domain/contracts/password-reset.ts'
import { passwordResetWorkflow } from '../../workflows/password-reset.ts'
import { eventually } from '../support/eventually.ts'
import { startTimeSkipping } from '../support/time-skipping.ts'

const { signals, updates } = passwordResetContract
const minute = 60_000

describe('the password-reset workflow', () => {
  let server: Awaited<ReturnType<typeof startTimeSkipping>>
  beforeAll(async () => {
    server = await startTimeSkipping()
  })
  afterAll(() => server.close())

  async function reset<T>(
    work: (flow: Awaited<ReturnType<typeof startFlow>>) => Promise<T>,
    { mail = async () => 'sent' }: { mail?: (count: number) => Promise<string> } = {},
  ): Promise<T> {
    const taskQueue = randomUUID()
    const seen: Seen = { mails: [], applied: [] }
    const activities = {
      sendPasswordReset: async ({ tokenId }: { tokenId: string }) => {
        seen.mails.push(tokenId)
        return mail(seen.mails.length)
      },
      applyNewPassword: async ({ redemptionId }: { redemptionId: string }) => void seen.applied.push(redemptionId),
    }
    return server.withWorker(taskQueue, activities, async () => {
      const flow = await startFlow(taskQueue, seen)
      try {
        return await work(flow)
      } finally {
        // One that is left waiting for its worker would hold up the time of the tests after it.
        await flow.handle.terminate().catch(() => undefined)
      }
    })
  }

  async function startFlow(taskQueue: string, seen: Seen) {
    const userId = randomUUID()
    const workflowId = passwordResetContract.id({ userId })
    const request = () =>
      server.client.workflow.signalWithStart(passwordResetWorkflow, {
        workflowId,
        taskQueue,
        args: [{ userId }],
        signal: signals.request,
        signalArgs: [],
      })
    const handle = await request()
    return {
      ...seen,
      handle,
      request,
      token: (count: number) => eventually(`mail ${count}`, () => seen.mails[count - 1]),
      redeem: (tokenId: string, redemptionId: string) =>
        handle.executeUpdate(updates.redeem, { args: [{ tokenId, redemptionId }] }),
    }
  }

  it('accepts a token once in simultaneous requests', async () => {
    await reset(async ({ handle, token, redeem, applied }) => {
      const tokenId = await token(1)
      const redemptions = Array.from({ length: 5 }, (_, index) => `redemption-${index}`)
      const results = await Promise.all(redemptions.map((id) => redeem(tokenId, id).catch(asEnded)))
      expect(results.filter((result) => result.outcome === 'changed')).toHaveLength(1)
      expect(applied).toEqual(redemptions.filter((_, index) => results[index]?.outcome === 'changed'))
      expect(await handle.result()).toBe('redeemed')
    })
  })

  it('accepts a token until shortly before its hour is over', async () => {
    await reset(async ({ token, redeem }) => {
      const tokenId = await token(1)
      await server.sleep(59 * minute)
      expect(await redeem(tokenId, 'redemption')).toEqual({ outcome: 'changed' })
    })
  })

  it('ends after an hour', async () => {
    await reset(async ({ handle, token, redeem, applied }) => {
      const tokenId = await token(1)
      expect(await handle.result()).toBe('expired')
      await expect(redeem(tokenId, 'redemption')).rejects.toBeInstanceOf(WorkflowNotFoundError)
      expect(applied).toEqual([])
    })
  })

  it('invalidates a token at the next request, and starts a new hour', async () => {
    await reset(async ({ request, token, redeem, handle }) => {
      const first = await token(1)
      await server.sleep(50 * minute)
      await request()
      expect(await redeem(first, 'too-late')).toEqual({ outcome: 'invalid' })
      const second = await token(2)
      await server.sleep(50 * minute)
      expect(await redeem(second, 'in-time')).toEqual({ outcome: 'changed' })
      expect(await handle.result()).toBe('redeemed')
    })
  })

  it('cancels a mail in delivery when a new one is requested', async () => {
    const mail = async (count: number) => {
      // It ends with its cancellation: this server fails a task when an activity ends while that is on the way.
      while (count === 1) {
        heartbeat()
        await sleep(50)
      }
      return 'sent'
    }
    await reset(
      async ({ request, token, redeem, mails }) => {
        const first = await token(1)
        await request()
        const second = await token(2)
        expect(second).not.toBe(first)
        expect(await redeem(first, 'too-late')).toEqual({ outcome: 'invalid' })
        expect(await redeem(second, 'in-time')).toEqual({ outcome: 'changed' })
        expect(mails).toEqual([first, second])
      },
      { mail },
    )
  })

  it('ends when the mail server refuses the mail permanently, and when the account is deleted', async () => {
    const refused = async () => {
      throw ApplicationFailure.nonRetryable('the mail server refused the mail')
    }
    await reset(async ({ handle }) => expect(await handle.result()).toBe('undeliverable'), { mail: refused })
    await reset(async ({ handle }) => expect(await handle.result()).toBe('account_gone'), {
      mail: async () => 'account_gone',
    })
  })
})

interface Seen {
  mails: string[]
  applied: string[]
}

function asEnded(error: unknown): { outcome: 'ended' } {
  if (error instanceof WorkflowNotFoundError) return { outcome: 'ended' }
  throw error
}
