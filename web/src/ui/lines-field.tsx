import { useState } from 'react'
import { TextArea } from './field.tsx'

interface LinesProps {
  label: string
  help: string
  value: string[]
  onLines: (lines: string[]) => void
}

/** A list, one entry a line. Keeps what is being typed while it is incomplete. */
export function LinesField({ label, help, value, onLines }: LinesProps) {
  const [text, setText] = useState(() => value.join('\n'))
  const change = (next: string) => {
    setText(next)
    onLines(
      next
        .split('\n')
        .map((line) => line.trim())
        .filter(Boolean),
    )
  }
  return <TextArea label={label} help={help} mono rows={3} value={text} onValue={change} spellCheck={false} />
}
