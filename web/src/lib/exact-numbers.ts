/**
 * Numbers in arguments of calls that a double does not hold, such as ids beyond 2^53, digit for digit. While this page has
 * them they are strings, of a mark for private use and the digits; they are numbers again wherever people see them, and in
 * what is sent.
 */
const mark = '\uE000'
const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g
const marked = new RegExp(`"${mark}(-?\\d[\\d.eE+-]*)"`, 'g')
const args = '"args":'

/** JSON of the service, with these numbers marked in every member `args`. */
export function markArguments(json: string): string {
  if (!json.includes(args) || !/\d{15}|\d[eE]|\.\d*0(?!\d)/.test(json)) return json
  const parts: string[] = []
  let start = 0
  for (let at = json.indexOf(args); at >= 0; at = json.indexOf(args, start)) {
    const end = endOfValue(json, at + args.length)
    parts.push(json.slice(start, at), markNumbers(json.slice(at, end)))
    start = end
  }
  return [...parts, json.slice(start)].join('')
}

/** JSON with all of these numbers marked. */
export function markNumbers(json: string): string {
  return json.replaceAll(stringOrNumber, (part) =>
    part.startsWith('"') || String(Number(part)) === part ? part : `"${mark}${part}"`,
  )
}

/** JSON with the digits in place of what was marked. */
export const withDigits = (json: string): string => (json.includes(mark) ? json.replaceAll(marked, '$1') : json)

/** JSON for people. */
export const shownJson = (value: unknown): string => withDigits(JSON.stringify(value, undefined, 2))

/** What a field for numbers shows; nothing of anything else. */
export function digitsOf(value: unknown): number | string {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.startsWith(mark) ? value.slice(mark.length) : ''
}

/** What was written into a field for numbers. */
export function numberOf(digits: string): number | string {
  const isWhole = /^-?\d+$/.test(digits)
  const significant = digits
    .replace(/[eE].*$/, '')
    .replaceAll(/\D/g, '')
    .replace(/^0+/, '')
  const isHeld = isWhole ? Number.isSafeInteger(Number(digits)) : significant.length <= 15
  return isHeld ? Number(digits) : `${mark}${digits}`
}

/** As `fetch`, with marked numbers in answers and events, and without marks in what is sent. */
export async function fetchExact(input: Request | URL | string, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init)
  const isJson = request.headers.get('content-type')?.startsWith('application/json') === true
  const text = isJson ? await request.clone().text() : ''
  const response = await fetch(
    text.includes(mark) ? new Request(request, { method: request.method, body: withDigits(text) }) : request,
  )
  const type = response.headers.get('content-type') ?? ''
  if (response.body === null || !/^(application\/json|text\/event-stream)/.test(type)) return response
  const { status, statusText, headers } = response
  const body = type.startsWith('application/json')
    ? markArguments(await response.text())
    : response.body.pipeThrough(new TextDecoderStream()).pipeThrough(byLines()).pipeThrough(new TextEncoderStream())
  return new Response(body, { status, statusText, headers })
}

/** JSON holds no line break: each event is whole. */
function byLines(): TransformStream<string, string> {
  let rest = ''
  return new TransformStream({
    transform(text, controller) {
      const end = text.lastIndexOf('\n') + 1
      if (end > 0) controller.enqueue(markArguments(rest + text.slice(0, end)))
      rest = end > 0 ? text.slice(end) : rest + text
    },
    flush: (controller) => controller.enqueue(markArguments(rest)),
  })
}

/** Behind the value that begins here. */
function endOfValue(json: string, start: number): number {
  let depth = 0
  const token = /"(?:[^"\\]|\\.)*"|[{[]|[}\]]|,/g
  token.lastIndex = start
  for (let found = token.exec(json); found !== null; found = token.exec(json)) {
    const [one] = found
    if (one === '{' || one === '[') depth += 1
    else if (one === '}' || one === ']') {
      depth -= 1
      if (depth < 0) return found.index
      if (depth === 0) return token.lastIndex
    } else if (depth === 0) return found.index
  }
  return json.length
}
