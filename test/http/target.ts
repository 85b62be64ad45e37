import { afterAll, beforeAll } from 'vitest'
import { signUpUser } from '../support/users.ts'

/**
 * The service under test: the one at `API_URL`, or one that is started for the test file. Tests in this
 * folder know nothing of it but its address, and of a new user only what the mailbox says.
 */
export function useTarget() {
  const target = { url: '' }
  let close = async () => {}
  beforeAll(async () => {
    const address = process.env['API_URL']
    if (address) {
      target.url = address.replace(/\/+$/, '')
      return
    }
    const { startService } = await import('../support/service.ts')
    const service = await startService()
    target.url = service.url
    close = service.close
  })
  afterAll(() => close())
  return target
}

/** One new user for a test file: a running service may limit how often an address signs up. */
export function useNewUser(target: { url: string }) {
  let user: Awaited<ReturnType<typeof signUpUser>> | undefined
  beforeAll(async () => {
    user = await signUpUser(target)
  })
  return () => {
    if (user === undefined) throw new Error('the user is there only during tests')
    return user
  }
}
