/** At most `max` requests in a window of `windowMs`, which begins with the first request. */
export interface Rate {
  max: number
  windowMs: number
}

interface RateLimit {
  /** Windows separated by commas, each a number and a time such as `20/1h`. */
  rates: string
  /** For the list in docs/limits.md. */
  counts: string
}

/** By client: by its address. By address: by the e-mail address in the body. The setting changes the rates. */
export const rateLimits = {
  accounts_client: { rates: '120/1m', counts: 'exchange, social login, verification status' },
  signup_client: { rates: '20/1h', counts: 'sign-ups' },
  login_client: { rates: '100/10m', counts: 'logins' },
  login_address: {
    rates: '30/15m',
    counts: 'logins',
  },
  login_codes_client: { rates: '20/1h', counts: 'logins of programs that are begun' },
  login_polls_client: { rates: '120/1m', counts: 'questions whether such a login was allowed' },
  login_codes_user: { rates: '60/1h', counts: 'their codes, looked up or decided about' },
  forgot_client: { rates: '20/1h', counts: 'forgotten passwords' },
  resend_client: { rates: '20/1h', counts: 'new verification codes' },
  reset_client: { rates: '20/1h', counts: 'password resets' },
  verify_client: { rates: '60/1h', counts: 'attempts to verify a code' },
  verify_address: { rates: '20/1h', counts: 'attempts to verify a code' },
  mails_address: {
    rates: '5/1h,20/1d',
    counts: 'mails that are requested',
  },
  invitations_user: { rates: '60/1h', counts: 'invitations to projects that are sent or accepted' },
  password_user: { rates: '20/1h', counts: 'changes of the password' },
  admin_client: { rates: '60/1m', counts: 'requests to `/admin`' },
  admin_guesses: {
    rates: '100/15m',
    counts: 'wrong admin tokens of a client; above it the right one is refused, too. Always on',
  },
  anonymous_client: {
    rates: '300/1m',
    counts: 'other requests without a token',
  },
  pages_client: {
    rates: '3000/1m',
    counts: 'console, `/docs`, `/redoc`, preflights',
  },
  probes_client: {
    rates: '1200/1m',
    counts: '`/ok`, `/ready`',
  },
  public_client: {
    rates: '300/1m',
    counts: 'requests to `/public`, also refused ones',
  },
  public_runs_client: { rates: '60/1m', counts: 'runs of public callers' },
  public_runs_token: { rates: '120/1m', counts: 'the same' },
  public_runs_assistant: { rates: '300/1m', counts: 'the same' },
  public_kilobytes_assistant: {
    rates: '500000/1d',
    counts: 'kilobytes that public callers of an assistant have stored: messages, images, files. Always on',
  },
  imports_user: { rates: '20/1h', counts: 'imports of archives' },
  runs_user: {
    rates: '120/1m',
    counts: 'runs, searches in files, calls of `tools/try`, pictures, facts that are saved',
  },
  shared_client: { rates: '120/1m', counts: 'shared chats' },
  searches_user: { rates: '240/1m', counts: 'searches in messages' },
  checkout_user: { rates: '20/1h', counts: 'checkouts that are opened' },
  checkout_reads_user: { rates: '60/1m', counts: 'checkouts that are looked up' },
} satisfies Record<string, RateLimit>

export type RateLimitName = keyof typeof rateLimits
const expectedRates = 'a number and a window such as 20/1h (s, m, h or d), several separated by commas, or off'
const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

export type RateTable = ReadonlyMap<RateLimitName, Rate[]>

const isName = (name: string): name is RateLimitName => Object.hasOwn(rateLimits, name)

export const defaultRates: RateTable = new Map(
  Object.keys(rateLimits)
    .filter(isName)
    .map((name) => [name, parseRates(rateLimits[name].rates) ?? []]),
)

/**
 * The table with what a text such as `login_client=10/5m, mails_address=5/1h,20/1d` changes in it. A part without a
 * name is one more window of the limit before it; `off` disables a limit. `problem` gets the name of each wrong entry.
 */
export function readRateTable(text: string, problem: (message: string) => void): RateTable {
  const changed = new Map<RateLimitName, Rate[]>()
  for (const entry of text.split(/,(?=[^,]*=)/)) {
    const [name = '', ...rest] = entry.split('=').map((part) => part.trim())
    const rates = parseRates(rest.join('='))
    if (rest.length === 0) problem('must have entries such as login_client=10/5m')
    else if (!isName(name)) problem(`names the limit ${name.slice(0, 40)}, which does not exist (see docs/limits.md)`)
    else if (changed.has(name)) problem(`names the limit ${name} twice`)
    else if (rates === undefined) problem(`must give ${name} ${expectedRates}`)
    else changed.set(name, rates)
  }
  return new Map([...defaultRates, ...changed])
}

/** The shortest window comes first; undefined if the text is invalid. */
function parseRates(text: string): Rate[] | undefined {
  if (/^off$/i.test(text)) return []
  const rates = text.split(',').map(parseRate)
  if (!rates.every((rate) => rate !== undefined)) return undefined
  return rates.toSorted((a, b) => a.windowMs - b.windowMs)
}

function parseRate(text: string): Rate | undefined {
  const [, max, count, unit] = /^\s*(\d{1,9})\/(\d{1,4})([smhd])\s*$/.exec(text) ?? []
  if (unit !== 's' && unit !== 'm' && unit !== 'h' && unit !== 'd') return undefined
  const windowMs = Number(count) * unitMs[unit]
  return Number(max) > 0 && windowMs > 0 ? { max: Number(max), windowMs } : undefined
}
