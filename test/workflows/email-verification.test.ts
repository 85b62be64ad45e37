import { randomUUID } from 'node:crypto'
import { WorkflowNotFoundError } from '@temporalio/client'
import { ApplicationFailure } from '@temporalio/common'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CodeReference, emailVerificationContract } from '../../domain/contracts/email-verification.ts'
import { emailVerificationWorkflow } from '../../workflows/email-verification.ts'
import { eventually } from '../support/eventually.ts'
import { startTimeSkipping } from '../support/time-skipping.ts'

const { updates } = emailVerificationContract
const minute = 60_000

interface Seen {
  mails: CodeReference[]
  attempts: number[]
  opened: number[]
  marked: () => number
}

describe('the email-verification workflow', () => {
  let server: Awaited<ReturnType<typeof startTimeSkipping>>
  beforeAll(async () => {
    server = await startTimeSkipping()
  })
  afterAll(() => server.close())

  /** A workflow with activities that only note what they are asked. */
  async function verification<T>(
    work: (flow: Flow) => Promise<T>,
    {
      mail = async () => 'sent',
      mark = async () => undefined,
    }: { mail?: () => Promise<string>; mark?: () => Promise<void> } = {},
  ): Promise<T> {
    const taskQueue = randomUUID()
    const mails: CodeReference[] = []
    const attempts: number[] = []
    const opened: number[] = []
    let marked = 0
    const activities = {
      sendVerificationCode: async ({ code }: { code: CodeReference }) => {
        mails.push(code)
        return mail()
      },
      openVerificationCode: async ({ code }: { code: CodeReference }) => void opened.push(code.send),
      recordAttempt: async (input: { attemptsRemaining: number }) => void attempts.push(input.attemptsRemaining),
      markVerified: async () => {
        marked++
        await mark()
      },
    }
    const seen = { mails, attempts, opened, marked: () => marked }
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

  type Flow = Awaited<ReturnType<typeof startFlow>>

  async function startFlow(taskQueue: string, seen: Seen) {
    const userId = randomUUID()
    const handle = await server.client.workflow.start(emailVerificationWorkflow, {
      workflowId: emailVerificationContract.id({ userId }),
      taskQueue,
      args: [{ userId, sendAtStart: true }],
    })
    return {
      ...seen,
      handle,
      /** The `count`th code, once the mail server took it. */
      code: async (count: number) => {
        await eventually(`code ${count}`, () => seen.opened.includes(count))
        const code = seen.mails.find((mail) => mail.send === count)
        if (code === undefined) throw new Error('opened, but never sent')
        return code
      },
      verify: (code: CodeReference, correct: boolean) =>
        handle.executeUpdate(updates.verify, { args: [{ code, correct }] }),
      resend: () => handle.executeUpdate(updates.resend),
    }
  }

  it('ends verified with the right code', async () => {
    await verification(async ({ handle, code, verify, marked }) => {
      expect(await verify(await code(1), true)).toEqual({ outcome: 'verified' })
      expect(await handle.result()).toBe('verified')
      expect(marked()).toBe(1)
    })
  })

  it('accepts a code until shortly before its fifteen minutes are over', async () => {
    await verification(async ({ code, verify }) => {
      const first = await code(1)
      await server.sleep(14.5 * minute)
      expect(await verify(first, true)).toEqual({ outcome: 'verified' })
    })
  })

  it('says that the address is already verified only when that is stored', async () => {
    const { promise: stored, resolve: store } = Promise.withResolvers<void>()
    const work = async ({ handle, code, verify, resend, marked }: Flow) => {
      const first = await code(1)
      const right = verify(first, true)
      await eventually('the mark is being stored', () => marked() === 1)
      const again = await handle.startUpdate(updates.verify, {
        args: [{ code: first, correct: true }],
        waitForStage: 'ACCEPTED',
      })
      const outcomes: string[] = []
      const answered = again.result().then(({ outcome }) => outcomes.push(outcome))
      // Another update is answered meanwhile.
      expect(await resend()).toEqual({ outcome: 'verified' })
      expect(outcomes).toEqual([])
      store()
      expect(await right).toEqual({ outcome: 'verified' })
      await answered
      expect(outcomes).toEqual(['already_verified'])
    }
    await verification(work, { mark: () => stored })
  })

  it('ends after fifteen minutes', async () => {
    await verification(async ({ handle, code, verify }) => {
      const first = await code(1)
      expect(await handle.result()).toBe('expired')
      await expect(verify(first, true)).rejects.toBeInstanceOf(WorkflowNotFoundError)
    })
  })

  it('accepts no fourth attempt', async () => {
    await verification(async ({ code, verify, attempts, marked }) => {
      const first = await code(1)
      const results = await Promise.all(Array.from({ length: 10 }, () => verify(first, false)))
      expect(results.filter((result) => result.outcome === 'wrong')).toHaveLength(3)
      expect(attempts.toSorted((a, b) => a - b)).toEqual([0, 1, 2])
      expect(await verify(first, true)).toEqual({ outcome: 'spent' })
      expect(marked()).toBe(0)
    })
  })

  it('answers verified to only one of many correct attempts', async () => {
    await verification(async ({ code, verify, marked }) => {
      const first = await code(1)
      const results = await Promise.all(Array.from({ length: 10 }, () => verify(first, true)))
      const outcomes = results.map((result) => result.outcome).toSorted()
      expect(outcomes).toEqual([...Array.from({ length: 9 }, () => 'already_verified'), 'verified'])
      expect(marked()).toBe(1)
    })
  })

  it('sends at most one code a minute, also after the third wrong one, and invalidates the old one', async () => {
    await verification(async ({ code, verify, resend, mails, handle }) => {
      const first = await code(1)
      for (let attempt = 0; attempt < 3; attempt++) await verify(first, false)
      expect(await resend()).toMatchObject({ outcome: 'too_soon' })
      await server.sleep(minute)
      expect(await resend()).toEqual({ outcome: 'accepted' })
      expect(await resend()).toMatchObject({ outcome: 'too_soon' })
      const second = await code(2)
      expect(await verify(first, true)).toEqual({ outcome: 'superseded', current: second })
      expect(await verify(second, false)).toEqual({ outcome: 'wrong', attemptsRemaining: 2 })
      expect(await verify(second, true)).toEqual({ outcome: 'verified' })
      expect(mails.map((mail) => mail.send)).toEqual([1, 2])
      expect(await handle.result()).toBe('verified')
    })
  })

  it('counts the fifteen minutes from the acceptance by the mail server', async () => {
    let failures = 12
    const mail = async () => {
      if (failures-- > 0) throw ApplicationFailure.retryable('the mail server is away')
      return 'sent'
    }
    await verification(
      async ({ code, verify, mails }) => {
        await server.sleep(5 * minute)
        const first = await code(1)
        expect(mails.length).toBeGreaterThan(10)
        await server.sleep(13 * minute)
        expect(await verify(first, true)).toEqual({ outcome: 'verified' })
      },
      { mail },
    )
  })

  it('ends when the mail server refuses the mail permanently, but not within the minute', async () => {
    const mail = async () => {
      throw ApplicationFailure.nonRetryable('the mail server refused the mail')
    }
    await verification(
      async ({ handle, resend, mails }) => {
        await eventually('the first mail', () => mails.length > 0)
        expect(await resend()).toMatchObject({ outcome: 'too_soon' })
        expect(await handle.result()).toBe('undeliverable')
        expect(mails).toHaveLength(1)
      },
      { mail },
    )
  })

  it('ends at once when the account is deleted', async () => {
    await verification(async ({ handle }) => expect(await handle.result()).toBe('account_gone'), {
      mail: async () => 'account_gone',
    })
  })
})
