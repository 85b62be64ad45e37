/** What a process ends with. `client/README.md` lists them. */
export const exitCodes = { failed: 1, usage: 2, login: 3, waits: 4, unreachable: 5, interrupted: 130 } as const

/** Why a command ended, in one sentence for the person who gave it. */
export class Failure extends Error {
  override name = 'Failure'
  readonly code: number

  constructor(message: string, code: number = exitCodes.failed) {
    super(message)
    this.code = code
  }
}

export const wrongUse = (message: string): Failure => new Failure(message, exitCodes.usage)
