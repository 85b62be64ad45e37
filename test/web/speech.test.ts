import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sendJson, startHttpServer } from '../support/http-server.ts'
import { startConsole } from './support.ts'

describe('speech in the console', () => {
  let audio: Awaited<ReturnType<typeof startHttpServer>>
  let console_: Awaited<ReturnType<typeof startConsole>>
  const spoken: string[] = []
  beforeAll(async () => {
    audio = await startHttpServer(async (request, response) => {
      for await (const chunk of request) spoken.push(String(chunk))
      if (request.url?.endsWith('/transcriptions')) return sendJson(response, 200, { text: 'When do you open?' })
      response.writeHead(200, { 'content-type': 'audio/wav' })
      response.end(silence())
    })
    console_ = await startConsole({ TRANSCRIPTION_BASE_URL: `${audio.url}/v1`, SPEECH_BASE_URL: `${audio.url}/v1` })
  })
  afterAll(async () => {
    await console_.close()
    await audio.close()
  })

  it('writes what was said into the message, and reads the answer aloud', async () => {
    const { page } = await console_.signedIn()
    // The machine has no microphone: a tone takes its place.
    await page.evaluate(`navigator.mediaDevices.getUserMedia = async () => {
      const context = new AudioContext()
      const tone = context.createOscillator()
      const out = context.createMediaStreamDestination()
      tone.connect(out)
      tone.start()
      return out.stream
    }`)
    await page.getByRole('button', { name: 'Dictate' }).click()
    await page.getByRole('button', { name: 'End dictation' }).click()
    const field = page.getByRole('textbox', { name: 'Message', exact: true })
    await expect.poll(() => field.inputValue()).toBe('When do you open?')
    console_.model.reply({ text: '**We open** at nine, see [the page](https://example.com/hours).' })
    await field.press('Enter')
    await page.getByRole('button', { name: 'Read aloud' }).click()
    await expect.poll(() => spoken.join('')).toContain('We open at nine, see the page.')
    await console_.expectAccessible(page, 'a chat with speech')
    await page.getByRole('button', { name: 'Read aloud' }).waitFor()
  })
})

/** Half a second of silence, 8,000 samples a second. */
function silence(): Buffer {
  const samples = Buffer.alloc(4000, 128)
  const head = Buffer.alloc(44)
  head.write('RIFF', 0)
  head.writeUInt32LE(36 + samples.length, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(8000, 24)
  head.writeUInt32LE(8000, 28)
  head.writeUInt16LE(1, 32)
  head.writeUInt16LE(8, 34)
  head.write('data', 36)
  head.writeUInt32LE(samples.length, 40)
  return Buffer.concat([head, samples])
}
