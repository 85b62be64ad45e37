import { CircleStop, Volume2 } from 'lucide-react'
import { useEffect, useId } from 'react'
import { wordsOf } from '../../lib/api.ts'
import { speak, stopSpeaking, useSpoken } from '../../lib/speech.ts'
import { spokenTextOf } from '../../lib/spoken-text.ts'
import { say } from '../../lib/toasts.ts'
import { texts } from '../../texts/index.ts'
import { IconButton } from '../../ui/button.tsx'

const t = texts.chat

/** Reads an answer aloud, and ends it; leaving the chat ends it, too. */
export default function ReadAloud({ text, hasServer }: { text: string; hasServer: boolean }) {
  const key = useId()
  const spoken = useSpoken()
  const isMine = spoken?.key === key
  useEffect(() => () => stopSpeaking(key), [key])
  if (!hasServer && !('speechSynthesis' in window)) return undefined
  const begin = () =>
    speak(key, spokenTextOf(text), hasServer).catch((error: unknown) => say(wordsOf(error, texts.offline), 'danger'))
  return (
    <IconButton
      label={isMine ? t.stopReading : t.readAloud}
      aria-pressed={isMine}
      icon={
        isMine && spoken.state === 'loading' ? (
          <span className="spinner" aria-hidden="true" />
        ) : isMine ? (
          <CircleStop size={15} />
        ) : (
          <Volume2 size={15} />
        )
      }
      onClick={() => (isMine ? stopSpeaking() : void begin())}
    />
  )
}
