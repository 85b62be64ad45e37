import { backOffMs } from '../../../domain/back-off.ts'

const waits = { firstMs: 500, longestMs: 5000 }

/**
 * What `load` imports, also when the network is away meanwhile: a module that was refused once would fail for good, and
 * all that imports it. Fails if the service answers and the file does not come: an update has removed it.
 */
export async function loadAgain<T>(load: () => Promise<T>, onWait?: () => void): Promise<T> {
  let wasReachable = false
  for (let failures = 1; ; failures += 1) {
    try {
      return await load()
    } catch (error) {
      const isReachable = await serviceAnswers()
      if (isReachable && wasReachable) throw error
      wasReachable = isReachable
      if (!isReachable) onWait?.()
      await new Promise<void>((resolve) => void setTimeout(resolve, backOffMs(failures, waits)))
    }
  }
}

async function serviceAnswers(): Promise<boolean> {
  return fetch('/icon.svg', { method: 'HEAD', cache: 'no-store' }).then(
    () => true,
    () => false,
  )
}
