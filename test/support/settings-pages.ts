import { rateLimits } from '../../domain/rate-limits.ts'
import type { Setting } from '../../infra/settings/kinds.ts'
import { settingGroups, settingsIn } from '../../infra/settings/schema.ts'

const groups = Object.entries(settingGroups).map(([title, group]) => ({ title, settings: settingsIn(group) }))

/** What `.env.example` must be: a line for each setting. */
export function envExample(): string {
  const lines = groups.flatMap(({ title, settings }) => ['', `# --- ${title}`, ...settings.flatMap(linesOf)])
  return `${[...envHead, ...lines].join('\n')}\n`
}

const envHead = [
  '# Made from infra/settings by npm run settings. Copy this file to .env and fill in what you need; an empty value',
  '# counts as not set. `npm start` needs no settings: it makes secrets, starts a server for each address that is not',
  '# set, and uses a demo model when there is no model key. Lists are separated by commas.',
  '# Each setting can be read from a file: NAME_FILE=/run/secrets/name. A value in NAME takes precedence.',
]

function linesOf(setting: Setting): string[] {
  const comment = `${setting.description} ${defaultSentence(setting)}`.replaceAll('`', '')
  return [...wrapped(comment).map((line) => `# ${line}`), `${setting.env}=`]
}

function defaultSentence(setting: Setting): string {
  if (setting.isRequired) return 'Required.'
  const unit = unitOf(setting)
  if (setting.defaultText !== undefined) return `${unit && `In ${unit}. `}Default: ${setting.defaultText}.`
  return `Default: ${`${defaultOf(setting)} ${unit}`.trim()}.`
}

/** Names end with their unit. */
function unitOf({ env }: Setting): string {
  const unit = /_(SECONDS|MINUTES|HOURS|DAYS|TOKENS|MB)$/.exec(env)?.[1] ?? ''
  return unit === 'MB' ? unit : unit.toLowerCase()
}

function wrapped(text: string, width = 116): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

function defaultOf({ defaultText, default: value }: Setting): string {
  if (defaultText !== undefined) return defaultText
  const values = Array.isArray(value) ? value : [value]
  return values.join(', ') || 'none'
}

/** What docs/settings.md must be. */
export function settingsPage(): string {
  const lists = groups.map(({ title, settings }) => `## ${title}\n\n${settings.map(entryOf).join('\n')}`)
  return [settingsHead, ...lists].join('\n\n').concat('\n')
}

const settingsHead = `# Settings

For operators: every setting, its default, and which process reads it. Made, like \`.env.example\`, by \`npm run settings\` from \`infra/settings\`.

A setting is an environment variable; an empty one counts as not set. \`NAME_FILE\` names a file with the value of \`NAME\`, which has precedence. Lists are separated by commas. In brackets: the only process that reads a setting, and its default. What both read must be the same for API and workers, except ports, addresses and queues. Secrets must have 32 characters in production.`

function entryOf(setting: Setting): string {
  const value = defaultOf(setting)
  const isPlain = setting.defaultText === undefined && setting.default !== undefined
  const standard = value === 'none' ? undefined : isPlain ? `\`${value}\`` : value
  const facts = [setting.readBy, setting.isSecret && 'secret', setting.isRequired ? '**required**' : standard]
  const given = facts.filter(Boolean).join('; ')
  return `- \`${setting.env}\`${given && ` (${given})`}: ${setting.description}`
}

const start = '<!-- rate limits: written by npm run settings -->'
const end = '<!-- end of the rate limits -->'

/** docs/limits.md with the list of the rate limits between its marks. */
export function withRateLimits(page: string): string {
  const list = Object.entries(rateLimits).map(([name, { rates, counts }]) => `- \`${name}\` (${rates}): ${counts}`)
  const [before, rest] = page.split(start)
  const after = rest?.split(end)[1]
  if (after === undefined) throw new Error(`docs/limits.md must have ${start} and ${end}`)
  return `${before}${start}\n\n${list.join('\n')}\n\n${end}${after}`
}
