import robots from 'robots-parser'
import { crawlLimits } from '../../domain/sources/limits.ts'
import type { SiteRules } from '../../services/sources/web.ts'

/** Behind a star, each character is compared with all of the address. */
const maxStarredCharacters = 8 * 1024
const maxRuleCharacters = 500
const maxRules = 5000

/** The rules of a `robots.txt` for us. */
export function rulesIn(text: string, url: string, { agent, pauseMs }: { agent: string; pauseMs: number }): SiteRules {
  const parsed = parse(url, bounded(text, agent.toLowerCase()))
  const delay = parsed.getCrawlDelay(agent)
  const wanted = typeof delay === 'number' && Number.isFinite(delay) ? delay : 0
  const isTooSlow = wanted > crawlLimits.crawlDelaySeconds
  return {
    pauseMs: Math.max(pauseMs, wanted * 1000),
    isTemporary: false,
    refusal(address) {
      if (isTooSlow) return `robots.txt asks for pauses of ${wanted} seconds, which is longer than is waited.`
      return parsed.isAllowed(address, agent) === false ? 'robots.txt does not allow it.' : undefined
    },
  }
}

/** Its types speak of a member `default`; the module itself is the function. */
function parse(url: string, text: string): ReturnType<typeof robots.default> {
  const loaded: unknown = robots
  return isParser(loaded) ? loaded(url, text) : robots.default(url, text)
}

function isParser(loaded: unknown): loaded is typeof robots.default {
  return typeof loaded === 'function'
}

/** A site without rules, or one that could not say them. */
export function fixedRules(pauseMs: number, refusal?: string): SiteRules {
  return { pauseMs, isTemporary: refusal !== undefined, refusal: () => refusal }
}

/**
 * The lines that say something, as many as can be compared in a moment. A rule is kept for each name in front of it: of
 * the names, only ours and `*` stay, once in a group, and one in place of all others.
 */
function bounded(text: string, agent: string): string {
  const lines: string[] = []
  let starred = 0
  let group = new Set<string>()
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (lines.length >= maxRules) break
    if (line.length > maxRuleCharacters) continue
    const [, member, value = ''] = /^\s*(user-agent|allow|disallow|crawl-delay)\s*:(.*)/i.exec(line) ?? []
    if (member === undefined) continue
    if (member.toLowerCase() === 'user-agent') {
      const name = /^[^/#]*/.exec(value.toLowerCase())?.[0].trim() ?? ''
      const agentName = name === '*' || name === agent ? name : 'other'
      if (!group.has(agentName)) lines.push(`user-agent: ${agentName}`)
      group.add(agentName)
      continue
    }
    group = new Set()
    if (line.includes('*')) starred += line.length
    if (starred <= maxStarredCharacters) lines.push(line)
  }
  return lines.join('\n')
}
