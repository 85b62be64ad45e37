import type { ServerResponse } from 'node:http'

interface Pace {
  words: number
  everyMs: number
}

/** Sends one word after the other, then `end`. `wordAt` makes a word from the time at which it is sent. */
export function sendPaced(
  response: ServerResponse,
  { words, everyMs }: Pace,
  wordAt: (sentAt: number) => string,
  end: string,
): void {
  let left = words
  const timer = setInterval(() => {
    if (left-- > 0) return void response.write(wordAt(Date.now()))
    clearInterval(timer)
    response.end(end)
  }, everyMs)
  response.once('close', () => clearInterval(timer))
}
