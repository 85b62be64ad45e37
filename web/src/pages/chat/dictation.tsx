import { Mic, Square } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { wordsOf } from '../../lib/api.ts'
import { writeDown } from '../../lib/speech.ts'
import { say } from '../../lib/toasts.ts'
import { texts } from '../../texts/index.ts'
import { IconButton } from '../../ui/button.tsx'

const t = texts.chat

/** A recording ends by itself after this time: the service takes 25 MB. */
const longestMs = 10 * 60 * 1000

/** Records what is said until it is pressed again, and gives its text to the message. */
export default function Dictation({ onText }: { onText: (text: string) => void }) {
  const [state, setState] = useState<'idle' | 'recording' | 'reading'>('idle')
  const recorder = useRef<MediaRecorder>(null)
  const leave = useRef(new AbortController())
  useEffect(() => {
    const left = (leave.current = new AbortController())
    return () => {
      left.abort()
      recorder.current?.stop()
    }
  }, [])

  async function record() {
    try {
      const sound = await navigator.mediaDevices.getUserMedia({ audio: true })
      const pieces: Blob[] = []
      const made = new MediaRecorder(sound)
      recorder.current = made
      const timer = setTimeout(() => made.stop(), longestMs)
      made.addEventListener('dataavailable', ({ data }) => pieces.push(data))
      made.addEventListener('stop', () => {
        clearTimeout(timer)
        for (const track of sound.getTracks()) track.stop()
        if (!leave.current.signal.aborted) void read(new Blob(pieces, { type: made.mimeType }))
      })
      made.start()
      setState('recording')
    } catch {
      say(t.noMicrophone, 'danger')
    }
  }

  async function read(recording: Blob) {
    setState('reading')
    try {
      const text = await writeDown(recording, leave.current.signal)
      if (text === '') say(t.nothingHeard)
      else onText(text)
    } catch (error) {
      if (!leave.current.signal.aborted) say(wordsOf(error, texts.offline), 'danger')
    } finally {
      setState('idle')
    }
  }

  const isRecording = state === 'recording'
  return (
    <IconButton
      label={isRecording ? t.endDictation : state === 'reading' ? t.writingDown : t.dictate}
      icon={
        state === 'reading' ? (
          <span className="spinner" aria-hidden="true" />
        ) : isRecording ? (
          <Square size={15} fill="currentColor" />
        ) : (
          <Mic size={18} />
        )
      }
      className={isRecording ? 'recording' : ''}
      aria-pressed={isRecording}
      disabled={state === 'reading'}
      onClick={() => (isRecording ? recorder.current?.stop() : void record())}
    />
  )
}
