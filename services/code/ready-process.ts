import type { PythonProcess } from './interpreter.ts'

/**
 * Starts processes ahead: after each that is taken, another one starts beside the code of the first, and ends when nobody
 * needs it for `keepMs`. With `keepMs` 0 none starts ahead.
 */
export function createReadyProcess(start: () => Promise<PythonProcess>, keepMs: number) {
  let ready: { process: Promise<PythonProcess>; timer: NodeJS.Timeout } | undefined
  let isClosed = false

  function prepare(): void {
    const process = start()
    process.catch(() => undefined)
    ready = { process, timer: setTimeout(() => void end(), keepMs).unref() }
  }

  async function end(): Promise<void> {
    const ended = ready
    ready = undefined
    clearTimeout(ended?.timer)
    const process = await ended?.process.catch(() => undefined)
    await process?.kill()
  }

  return {
    async take(): Promise<PythonProcess> {
      const taken = ready
      ready = undefined
      clearTimeout(taken?.timer)
      const prepared = await taken?.process.catch(() => undefined)
      const process = prepared === undefined || prepared.isGone ? await start() : prepared
      if (keepMs > 0 && !isClosed && ready === undefined) prepare()
      return process
    },
    async close(): Promise<void> {
      isClosed = true
      await end()
    },
  }
}
