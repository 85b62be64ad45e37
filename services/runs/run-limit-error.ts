/** A run ends before its final answer, because its steps have used up a limit that its caller set. */
export class RunLimitError extends Error {
  readonly type: 'max_prompt_tokens' | 'max_completion_tokens'

  constructor(type: RunLimitError['type'], limit: number) {
    super(`The run used up its limit of tokens: ${type} is ${limit}.`)
    this.name = 'RunLimitError'
    this.type = type
  }
}
