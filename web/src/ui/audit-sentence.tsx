import type { Schemas } from '../lib/api.ts'
import { formatNumber } from '../lib/format.ts'
import { auditMessages } from '../texts/audit.ts'

const t = auditMessages
type Entry = Schemas['AuditEntry']
export type Names = Schemas['AuditPage']['names']

interface SentenceProps {
  entry: Entry
  names: Names
  /** Whether the reader is the account that the entry is about. */
  isOwn: boolean
}

/** An entry as a sentence: who did what with what. */
export function AuditSentence({ entry, names, isOwn }: SentenceProps) {
  const subject = entry.subjects.map((id) => names[id]).find((name) => name !== undefined)
  const account = entry.user_id === null ? undefined : names[entry.user_id]
  const person = isOwn && entry.actor !== 'admin' && entry.actor !== 'anonymous' ? 'you' : 'others'
  const [before = '', after = ''] = sentenceOf(entry.action).split('{subject}')
  return (
    <>
      <strong className="break">{whoOf(entry, account, person)}</strong>{' '}
      {t.auxiliary[person] && `${t.auxiliary[person]} `}
      {before.replace('{self}', t.reflexive[person]).replace('{account}', () => account ?? t.nobody)}
      {after !== '' || sentenceOf(entry.action).includes('{subject}') ? (
        <>
          <em className="break">{subject ?? t.something}</em>
          {after}
        </>
      ) : undefined}
      {entry.count > 1 && ` ${t.times(formatNumber(entry.count))}`}{' '}
      {entry.outcome === 'refused' && <span className="badge badge-warn">{t.refused}</span>}
    </>
  )
}

function whoOf(entry: Entry, account: string | undefined, person: 'you' | 'others'): string {
  if (entry.actor === 'admin') return t.anOperator
  if (entry.actor === 'anonymous') return t.somebody
  return person === 'you' ? t.youWho : (account ?? t.somebody)
}

/** An action that has no sentence yet is named. */
function sentenceOf(action: string): string {
  const sentences: Record<string, string> = t.sentences
  return sentences[action] ?? t.didAction(action)
}

/** "Chrome on Windows", or as much of it as is known. */
export function agentWords(agent: string | null): string | undefined {
  if (agent === null) return undefined
  const { browser, system } = agentParts(agent)
  if (browser !== undefined && system !== undefined) return t.browserOn(browser, system)
  return browser ?? system ?? t.program
}

const browsers: [RegExp, string][] = [
  [/\bEdgA?\//, 'Edge'],
  [/\b(?:OPR|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
  [/^python/i, 'Python'],
  [/^(?:node|undici)\b/i, 'Node'],
]

const systems: [RegExp, string][] = [
  [/Windows/, 'Windows'],
  [/iPhone|iPad|iOS/, 'iOS'],
  [/Android/, 'Android'],
  [/CrOS/, 'ChromeOS'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/Linux|X11/, 'Linux'],
]

/** The browser and the system that a `User-Agent` names, as far as they are known ones. */
function agentParts(agent: string): { browser: string | undefined; system: string | undefined } {
  const nameIn = (names: [RegExp, string][]) => names.find(([pattern]) => pattern.test(agent))?.[1]
  return { browser: nameIn(browsers), system: nameIn(systems) }
}
