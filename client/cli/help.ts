import type { Command } from './command.ts'

export const commonOptions = {
  url: { type: 'string', value: 'URL', help: 'address of the service; default: that of the last login' },
  help: { type: 'boolean', short: 'h', help: 'show this help' },
} as const

export function helpOf({ name, operands, summary, options }: Command): string {
  const all: Command['options'] = { ...options, ...commonOptions }
  const lines = Object.entries(all).map(([long, option]) => {
    const short = option.short === undefined ? '    ' : `-${option.short}, `
    return [`${short}--${long}${option.value === undefined ? '' : ` ${option.value}`}`, option.help] as const
  })
  return `Usage: ${['assistant', name, '[OPTIONS]', operands].filter(Boolean).join(' ')}

${summary}.

Options:
${table(lines)}`
}

export function overview(commands: readonly Command[]): string {
  const lines = commands.map(({ name, operands, summary }) => [`${name} ${operands}`.trim(), summary] as const)
  return `Usage: assistant COMMAND [OPTIONS]

Commands:
${table(lines)}
"assistant COMMAND --help" shows the options of a command. ASSISTANT_URL and ASSISTANT_TOKEN
win over what a login has stored.
`
}

function table(lines: readonly (readonly [string, string])[]): string {
  const width = Math.max(...lines.map(([left]) => left.length))
  return lines.map(([left, right]) => `  ${left.padEnd(width)}  ${right}\n`).join('')
}
